//! `rheon sessions delete`.

use super::kept::keeper;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::remark;
use crate::runtime::block_on;

/// Delete sessions with their checkpoints
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// Which sessions
    #[arg(required = true)]
    sessions: Vec<String>,
}

impl Delete {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (keeper, _) = keeper()?;
        for session in &self.sessions {
            let deleted = block_on(async { keeper.delete(session).await.map_err(Failure::error) })?;
            remark(&format!("deleted {} ({} bytes free again)", deleted.session_id, deleted.bytes_freed));
            if let Some(transcript) = deleted.transcript {
                remark(&format!("its transcript for Claude Code stays: {}", transcript.display()));
            }
        }
        Ok(Exit::Done)
    }
}
