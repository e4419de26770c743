//! `rheon memory show`.

use rheon_text::inert;

use super::desk::desk;
use super::thing::{Thing, ThingFlags, episode_json, learning_json, note_json, owner};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::print;

/// Show a note, an earlier session or a learning
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    thing: ThingFlags,

    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let thing = self.thing.find(&desk()?)?;
        if self.json {
            return print(&as_json(&match &thing {
                Thing::Note(note) => note_json(note),
                Thing::Episode(episode) => episode_json(episode),
                Thing::Learning(learning) => learning_json(learning),
            })?);
        }
        print(&inert(&text(&thing)))
    }
}

fn text(thing: &Thing) -> String {
    match thing {
        Thing::Note(note) => {
            let keywords = note.keywords.join(", ");
            let about = format!("note {} of the {}: {}\n", note.name, owner(note.origin), note.description);
            let keywords = if keywords.is_empty() { keywords } else { format!("keywords: {keywords}\n") };
            format!("{about}{keywords}\n{}\n", note.text.trim_end())
        }
        Thing::Episode(episode) => {
            let (id, outcome) = (&episode.session_id, episode.outcome.as_str());
            format!("session {id} ({outcome})\n\n{}\n", episode.summary)
        }
        Thing::Learning(learning) => {
            let (id, status) = (learning.id.0, learning.status.as_str());
            let (helped, misled) = (learning.evidence_for, learning.evidence_against);
            let about = format!("learning {id} ({status}; helped {helped} times, misled {misled} times)");
            format!("{about}\n\n{}\n", learning.proposal.text.trim_end())
        }
    }
}
