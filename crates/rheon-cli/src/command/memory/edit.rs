//! `rheon memory edit`.

use std::fs;

use rheon_app::memory::{MemoryManager, NoteEdit};
use rheon_app::sessions::EnvVars;

use super::desk::desk;
use super::thing::{Thing, ThingFlags};
use crate::editor;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Change the text of a note, of an earlier session's summary or of a learning
///
/// Without --text, your editor opens it.
#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    #[command(flatten)]
    thing: ThingFlags,

    /// The new text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

impl Edit {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let desk = desk()?;
        let thing = self.thing.find(&desk)?;
        let old = match &thing {
            Thing::Note(note) => note.text.clone(),
            Thing::Episode(episode) => episode.summary.clone(),
            Thing::Learning(learning) => learning.proposal.text.clone(),
        };
        let new = match self.text {
            Some(text) => text,
            None => edited(&old)?,
        };
        if new.trim() == old.trim() {
            return print("nothing was changed\n");
        }
        keep(&desk, thing, new)?;
        print("changed\n")
    }
}

fn keep(desk: &MemoryManager, thing: Thing, text: String) -> Result<(), Failure> {
    match thing {
        Thing::Note(note) => {
            let edit = NoteEdit { text: Some(text), ..NoteEdit::default() };
            desk.edit_note(&note.name, Some(note.origin), edit).map(drop).map_err(Failure::error)
        }
        Thing::Episode(episode) => {
            desk.edit_episode(episode.session_id.as_str(), &text).map(drop).map_err(Failure::error)
        }
        Thing::Learning(learning) => desk.edit_learning(learning.id, &text).map(drop).map_err(Failure::error),
    }
}

/// `text` after the user's editor had it.
fn edited(text: &str) -> Result<String, Failure> {
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::error(format_args!("cannot make a folder for the text: {error}")))?;
    let file = folder.path().join("memory.md");
    fs::write(&file, text).map_err(Failure::error)?;
    editor::edit(&file, &EnvVars::of_process())?;
    fs::read_to_string(&file).map_err(Failure::error)
}
