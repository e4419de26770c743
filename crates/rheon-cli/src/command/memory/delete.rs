//! `rheon memory delete`.

use std::io::{IsTerminal as _, stdin};

use rheon_text::inert;

use super::item::{ItemFlags, MemoryItem};
use super::manager::manager;
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Delete a note, an episode or a learning; sessions are not deleted
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    item: ItemFlags,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let manager = manager()?;
        let item = self.item.find(&manager)?;
        let what = match &item {
            MemoryItem::Note(note) => format!("note {}: {}", note.name, note.description),
            MemoryItem::Episode(episode) => format!("session {}: {}", episode.session_id, episode.summary),
            MemoryItem::Learning(learning) => {
                format!("learning {}: {}", learning.id.0, learning.proposal.text)
            }
        };
        let what = inert(&what.replace('\n', " ")).into_owned();
        if !self.yes {
            if !stdin().is_terminal() {
                return Err(Failure::usage("not confirmed: use --yes to skip the question"));
            }
            match ask(&format!("Forget {what}?")).map_err(Failure::error)? {
                Answer::Yes => {}
                Answer::No => return print("nothing deleted\n"),
            }
        }
        match item {
            MemoryItem::Note(note) => {
                drop(manager.delete_note(&note.name, Some(note.origin)).map_err(Failure::error)?)
            }
            MemoryItem::Episode(episode) => {
                drop(manager.delete_episode(episode.session_id.as_str()).map_err(Failure::error)?);
            }
            MemoryItem::Learning(learning) => {
                drop(manager.delete_learning(learning.id).map_err(Failure::error)?)
            }
        }
        print(&format!("forgot {what}\n"))
    }
}
