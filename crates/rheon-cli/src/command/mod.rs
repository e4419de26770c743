//! The commands, one file each.

mod demo;

use crate::exit::Exit;

/// A command and its options.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
}

impl Command {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        match self {
            Self::Demo(demo) => demo.run(),
        }
    }
}
