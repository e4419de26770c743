//! `rheon sessions delete`.

use std::io::{IsTerminal as _, stdin};

use rheon_app::sessions::SessionManager;

use super::manager::manager;
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_note};
use crate::runtime::block_on;

/// Delete sessions and their checkpoints; this cannot be undone
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// The sessions, by id or id prefix
    #[arg(required = true)]
    sessions: Vec<String>,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, _) = manager()?;
        if !self.yes {
            block_on(self.announce(&manager))?;
            if !stdin().is_terminal() {
                return Err(Failure::usage("not confirmed: use --yes to skip the question"));
            }
            match ask("Delete? This cannot be undone.").map_err(Failure::error)? {
                Answer::Yes => {}
                Answer::No => return print("nothing deleted\n"),
            }
        }
        for session in &self.sessions {
            let deleted = block_on(async { manager.delete(session).await.map_err(Failure::error) })?;
            let freed = match deleted.bytes_freed {
                0 => String::new(),
                bytes => format!(" ({bytes} bytes freed)"),
            };
            print_note(&format!("deleted {}{freed}", deleted.session_id));
            if let Some(transcript) = deleted.transcript {
                print_note(&format!("its Claude Code transcript remains: {}", transcript.display()));
            }
        }
        Ok(Exit::Done)
    }

    /// Prints the full ids that would be deleted: prefixes are easily mistyped.
    async fn announce(&self, manager: &SessionManager) -> Result<(), Failure> {
        for session in &self.sessions {
            let id = manager.id_of(session).await.map_err(Failure::error)?;
            print_note(&format!("session {id} and its checkpoints will be deleted"));
        }
        Ok(())
    }
}
