//! `rheon sessions fork`.

use rheon_app::sessions::ForkAt;

use super::kept::keeper;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, remark};
use crate::runtime::block_on;

/// Begin a new session where another stands, and print its id
#[derive(Debug, clap::Args)]
pub(crate) struct Fork {
    /// Which session
    session: String,

    /// From this event on, instead of from its end
    #[arg(long, value_name = "EVENT")]
    at: Option<u64>,
}

impl Fork {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (keeper, _) = keeper()?;
        let at = self.at.map_or(ForkAt::End, ForkAt::Event);
        let session_id = block_on(async {
            let forked = keeper.fork(&self.session, at).await.map_err(Failure::error)?;
            let session_id = forked.session_id().clone();
            forked.close().await;
            Ok(session_id)
        })?;
        remark(&format!("to go on: rheon -r {session_id}"));
        print(&format!("{session_id}\n"))
    }
}
