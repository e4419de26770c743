//! `rheon trust`.

use std::io::{IsTerminal as _, stdin};

use rheon_app::config::{Config, revoke_trust};
use rheon_text::inert;

use super::setup::{config, system};
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Review and trust this project's hooks, skills, commands and MCP servers
///
/// They are used only after you trust their exact content, and so is what the project's settings allow. Rheon asks again when a file
/// changes.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    #[command(subcommand)]
    command: Option<TrustCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum TrustCommand {
    /// Show what the project contains and whether you trust it (default)
    Show,
    /// Trust the current content
    Grant {
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
    /// Revoke trust in this project
    Revoke,
}

impl Trust {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        match self.command {
            None | Some(TrustCommand::Show) => print(&format!("{}\n", describe(&config))),
            Some(TrustCommand::Grant { yes }) => {
                grant(&config, if yes { Confirmation::Given } else { Confirmation::Ask })
            }
            Some(TrustCommand::Revoke) => {
                revoke_trust(&config.project_root, &system.dirs).map_err(Failure::error)?;
                print(&format!("no longer trusting {}\n", config.project_root.display()))
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Confirmation {
    Given,
    Ask,
}

fn grant(config: &Config, confirmation: Confirmation) -> Result<Exit, Failure> {
    let Some(review) = config.review.as_ref().filter(|review| review.is_open()) else {
        return print(&format!("{}\n", describe(config)));
    };
    if confirmation == Confirmation::Ask {
        if !stdin().is_terminal() {
            return Err(Failure::usage(format_args!(
                "trust not granted: review {} with `rheon trust show`, then run `rheon trust grant --yes`",
                review.summary()
            )));
        }
        match ask(&inert(&review.question())).map_err(Failure::error)? {
            Answer::Yes => {}
            Answer::No => return print("trust not granted\n"),
        }
    }
    review.grant().map_err(Failure::error)?;
    print(&format!("trusting {} with its current content\n", config.project_root.display()))
}

fn describe(config: &Config) -> String {
    match &config.review {
        Some(review) if review.is_open() => {
            let shown = inert(&review.question()).into_owned();
            format!("{shown} To trust it: rheon trust grant")
        }
        Some(review) => review.trust().to_string(),
        None => "not a project, or its trust status is unknown; nothing of it is used".into(),
    }
}
