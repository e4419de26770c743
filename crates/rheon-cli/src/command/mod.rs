//! The commands, one file each.

mod completions;
mod demo;
mod models;
mod run;
mod sessions;
mod setup;

use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) use run::Run;

/// A command and its options.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Run(Box<run::Run>),
    Sessions(sessions::Sessions),
    Models(models::Models),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(completions::Man),
}

impl Command {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self {
            Self::Run(run) => run.headless(),
            Self::Sessions(sessions) => sessions.run(),
            Self::Models(models) => models.run(),
            Self::Demo(demo) => demo.run(),
            Self::Completions(completions) => completions.run(),
            Self::Man(man) => man.run(),
        }
    }
}
