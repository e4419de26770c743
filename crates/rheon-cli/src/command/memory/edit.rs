//! `rheon memory edit`.

use std::fs;

use rheon_app::memory::{MemoryManager, NoteEdit};
use rheon_app::sessions::EnvVars;

use super::item::{ItemFlags, MemoryItem};
use super::manager::manager;
use crate::editor;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Edit a note, an episode or a learning
///
/// Without --text, opens your editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    #[command(flatten)]
    item: ItemFlags,

    /// The new text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

impl Edit {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let manager = manager()?;
        let item = self.item.find(&manager)?;
        let old = match &item {
            MemoryItem::Note(note) => note.text.clone(),
            MemoryItem::Episode(episode) => episode.summary.clone(),
            MemoryItem::Learning(learning) => learning.proposal.text.clone(),
        };
        let new = match self.text {
            Some(text) => text,
            None => edited(&old)?,
        };
        if new.trim() == old.trim() {
            return print("nothing changed\n");
        }
        keep(&manager, item, new)?;
        print("changed\n")
    }
}

fn keep(manager: &MemoryManager, item: MemoryItem, text: String) -> Result<(), Failure> {
    match item {
        MemoryItem::Note(note) => {
            let edit = NoteEdit { text: Some(text), ..NoteEdit::default() };
            manager.edit_note(&note.name, Some(note.origin), edit).map(drop).map_err(Failure::error)
        }
        MemoryItem::Episode(episode) => {
            manager.edit_episode(episode.session_id.as_str(), &text).map(drop).map_err(Failure::error)
        }
        MemoryItem::Learning(learning) => {
            manager.edit_learning(learning.id, &text).map(drop).map_err(Failure::error)
        }
    }
}

/// Opens `text` in the user's editor and returns the result.
fn edited(text: &str) -> Result<String, Failure> {
    let dir = tempfile::tempdir()
        .map_err(|error| Failure::error(format_args!("cannot create a temporary directory: {error}")))?;
    let file = dir.path().join("memory.md");
    fs::write(&file, text).map_err(Failure::error)?;
    editor::edit(&file, &EnvVars::of_process())?;
    fs::read_to_string(&file).map_err(Failure::error)
}
