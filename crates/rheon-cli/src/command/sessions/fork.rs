//! `rheon sessions fork`.

use rheon_app::sessions::ForkAt;

use super::argument::SessionArgument;
use super::manager::manager;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_note};
use crate::runtime::block_on;

/// Start a new session from another one and print its id
#[derive(Debug, clap::Args)]
pub(crate) struct Fork {
    #[command(flatten)]
    session: SessionArgument,

    /// Fork at this event [default: the end]
    #[arg(long, value_name = "EVENT")]
    at: Option<u64>,
}

impl Fork {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, _) = manager()?;
        let at = self.at.map_or(ForkAt::End, ForkAt::Event);
        let session_id = block_on(async {
            let session = self.session.name(&manager).await?;
            let forked = manager.fork(&session, at).await.map_err(Failure::error)?;
            let session_id = forked.session_id().clone();
            forked.close().await;
            Ok(session_id)
        })?;
        print_note(&format!("to resume it: rheon -r {session_id}"));
        print(&format!("{session_id}\n"))
    }
}
