//! `rheon sessions resume`: the same as `rheon -r`.

use crate::command::run::Run;
use crate::exit::Exit;
use crate::failure::Failure;

/// Resume a session (same as rheon -r)
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    /// The session [default: the most recent one in this directory]
    session: Option<String>,
}

impl Resume {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        Run::resuming(self.session).interactive_or_headless()
    }
}
