//! `rheon init`: what a project begins with.

use rheon_app::init::{InitOutcome, init_project};

use super::setup::{config, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Give this project settings and instructions for agents; nothing is overwritten
///
/// Makes .rheon/config.toml, in which everything is explained and nothing is set, .rheon/.gitignore for what is only yours, and AGENTS.md, if
/// there are no such instructions yet.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {}

impl Init {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let root = config(&system)?.project_root;
        let is_home =
            system.home().and_then(|home| home.canonicalize().ok()).is_some_and(|home| home == root);
        if is_home {
            return Err(Failure::usage(
                "this is your home, which is no project: go to one; `rheon config edit` opens your own settings",
            ));
        }
        let begun = init_project(&root).map_err(Failure::error)?;
        let mut text = String::new();
        for begun in &begun {
            text.push_str(&match begun {
                InitOutcome::Written(path) => format!("made  {}\n", path.display()),
                InitOutcome::Left(path) => format!("left  {} (it is there already)\n", path.display()),
            });
        }
        if begun
            .iter()
            .any(|begun| matches!(begun, InitOutcome::Written(path) if path.ends_with("AGENTS.md")))
        {
            text.push_str(
                "Now say in AGENTS.md how this project is built and tested; every session reads it.\n",
            );
        }
        print(&text)
    }
}
