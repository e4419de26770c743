//! `rheon memory show`.

use rheon_text::inert;

use super::item::{ItemFlags, MemoryItem, episode_json, learning_json, note_json, owner};
use super::manager::manager;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::print;

/// Show a note, an episode or a learning
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    item: ItemFlags,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let item = self.item.find(&manager()?)?;
        if self.json {
            return print(&as_json(&match &item {
                MemoryItem::Note(note) => note_json(note),
                MemoryItem::Episode(episode) => episode_json(episode),
                MemoryItem::Learning(learning) => learning_json(learning),
            })?);
        }
        print(&inert(&text(&item)))
    }
}

fn text(item: &MemoryItem) -> String {
    match item {
        MemoryItem::Note(note) => {
            let keywords = note.keywords.join(", ");
            let about = format!("note {} of the {}: {}\n", note.name, owner(note.origin), note.description);
            let keywords = if keywords.is_empty() { keywords } else { format!("keywords: {keywords}\n") };
            format!("{about}{keywords}\n{}\n", note.text.trim_end())
        }
        MemoryItem::Episode(episode) => {
            let (id, outcome) = (&episode.session_id, episode.outcome.as_str());
            format!("session {id} ({outcome})\n\n{}\n", episode.summary)
        }
        MemoryItem::Learning(learning) => {
            let (id, status) = (learning.id.0, learning.status.as_str());
            let (helped, misled) = (learning.evidence_for, learning.evidence_against);
            let about = format!("learning {id} ({status}; helped {helped} times, misled {misled} times)");
            format!("{about}\n\n{}\n", learning.proposal.text.trim_end())
        }
    }
}
