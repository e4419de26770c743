//! `rheon trust`: whether what a project brings along is run and obeyed.

use std::io::{IsTerminal as _, stdin};

use rheon_app::config::{Config, revoke_trust};
use rheon_text::inert;

use super::setup::{config, system};
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Look at what this project brings along to be run or obeyed, and agree to it or not
///
/// Hooks, skills, commands, MCP servers and what the project's settings allow count only after you have agreed to them as they are. If a file
/// changes, you are asked again.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    #[command(subcommand)]
    command: Option<TrustCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum TrustCommand {
    /// Show what there is, and what you have said (the same as without a command)
    Show,
    /// Agree to what there is now
    Grant {
        /// Without being asked
        #[arg(short, long)]
        yes: bool,
    },
    /// Agree to nothing of this project any more
    Revoke,
}

impl Trust {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        match self.command {
            None | Some(TrustCommand::Show) => print(&format!("{}\n", told(&config))),
            Some(TrustCommand::Grant { yes }) => grant(&config, if yes { Asked::Before } else { Asked::Now }),
            Some(TrustCommand::Revoke) => {
                revoke_trust(&config.project_root, &system.folders).map_err(Failure::error)?;
                print(&format!("Nothing of {} is trusted any more.\n", config.project_root.display()))
            }
        }
    }
}

/// Whether the user has said yes already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Before,
    Now,
}

fn grant(config: &Config, asked: Asked) -> Result<Exit, Failure> {
    let Some(review) = config.review.as_ref().filter(|review| review.is_open()) else {
        return print(&format!("{}\n", told(config)));
    };
    if asked == Asked::Now {
        if !stdin().is_terminal() {
            return Err(Failure::usage(format_args!(
                "nothing was agreed to: look at {} with `rheon trust show`, then say `rheon trust grant --yes`",
                review.summary()
            )));
        }
        match ask(&inert(&review.question())).map_err(Failure::error)? {
            Answer::Yes => {}
            Answer::No => return print("nothing was agreed to\n"),
        }
    }
    review.grant().map_err(Failure::error)?;
    print(&format!("{} is trusted as it is now.\n", config.project_root.display()))
}

/// What there is, and what the user has said.
fn told(config: &Config) -> String {
    match &config.review {
        Some(review) if review.is_open() => {
            let shown = inert(&review.question()).into_owned();
            format!("{shown} If so: rheon trust grant")
        }
        Some(review) => review.trust().to_string(),
        None => {
            "This folder is no project, or it is not known what you have agreed to; nothing of it is used."
                .into()
        }
    }
}
