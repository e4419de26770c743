//! `rheon sessions resume`: the same as `rheon -r`.

use crate::command::run::Run;
use crate::exit::Exit;
use crate::failure::Failure;

/// Go on with a session; the same as rheon -r
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    /// Which session; the last one of this folder if absent
    session: Option<String>,
}

impl Resume {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        Run::resuming(self.session).interactive_or_headless()
    }
}
