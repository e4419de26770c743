//! `rheon sessions delete`.

use std::io::{IsTerminal as _, stdin};

use rheon_app::sessions::SessionManager;

use super::kept::keeper;
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, remark};
use crate::runtime::block_on;

/// Delete sessions with their checkpoints; that cannot be undone
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// Which sessions
    #[arg(required = true)]
    sessions: Vec<String>,

    /// Do it without asking
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (keeper, _) = keeper()?;
        if !self.yes {
            block_on(self.announce(&keeper))?;
            if !stdin().is_terminal() {
                return Err(Failure::usage("nothing was done: say --yes to do it without being asked"));
            }
            match ask("Do it? It cannot be undone.").map_err(Failure::error)? {
                Answer::Yes => {}
                Answer::No => return print("nothing was done\n"),
            }
        }
        for session in &self.sessions {
            let deleted = block_on(async { keeper.delete(session).await.map_err(Failure::error) })?;
            let freed = match deleted.bytes_freed {
                0 => String::new(),
                bytes => format!(" ({bytes} bytes free again)"),
            };
            remark(&format!("deleted {}{freed}", deleted.session_id));
            if let Some(transcript) = deleted.transcript {
                remark(&format!("its transcript for Claude Code stays: {}", transcript.display()));
            }
        }
        Ok(Exit::Done)
    }

    /// Says what would go, by whole ids: their beginnings are easily mistyped.
    async fn announce(&self, keeper: &SessionManager) -> Result<(), Failure> {
        for session in &self.sessions {
            let id = keeper.id_of(session).await.map_err(Failure::error)?;
            remark(&format!("session {id} would be deleted with its checkpoints"));
        }
        Ok(())
    }
}
