//! `rheon init`.

use rheon_app::init::{InitOutcome, init_project};

use super::setup::{config, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Create settings and instructions for this project
///
/// Writes .rheon/config.toml (every setting explained, none set), .rheon/.gitignore for personal files, and AGENTS.md if there are no
/// instructions yet. Existing files are not changed.
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
                "this is your home directory, not a project; change to a project, or edit your own settings with `rheon config edit`",
            ));
        }
        let begun = init_project(&root).map_err(Failure::error)?;
        let mut text = String::new();
        for begun in &begun {
            text.push_str(&match begun {
                InitOutcome::Written(path) => format!("created  {}\n", path.display()),
                InitOutcome::Left(path) => format!("exists   {}\n", path.display()),
            });
        }
        if begun
            .iter()
            .any(|begun| matches!(begun, InitOutcome::Written(path) if path.ends_with("AGENTS.md")))
        {
            text.push_str(
                "Describe in AGENTS.md how to build and test this project; every session reads it.\n",
            );
        }
        print(&text)
    }
}
