//! The commands, one file each.

mod demo;
mod run;

use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) use run::{Run, open};

/// A command and its options.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Run(Box<run::Run>),
    Demo(demo::Demo),
}

impl Command {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        match self {
            Self::Run(run) => run.headless(),
            Self::Demo(demo) => Ok(demo.run()?),
        }
    }
}
