//! `rheon memory delete`.

use std::io::{IsTerminal as _, stdin};

use rheon_text::inert;

use super::desk::desk;
use super::thing::{Thing, ThingFlags};
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Forget a note, an earlier session or a learning; sessions themselves stay
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    thing: ThingFlags,

    /// Without being asked
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let desk = desk()?;
        let thing = self.thing.find(&desk)?;
        let what = match &thing {
            Thing::Note(note) => format!("note {}: {}", note.name, note.description),
            Thing::Episode(episode) => format!("session {}: {}", episode.session_id, episode.summary),
            Thing::Learning(learning) => format!("learning {}: {}", learning.id.0, learning.proposal.text),
        };
        let what = inert(&what.replace('\n', " ")).into_owned();
        if !self.yes {
            if !stdin().is_terminal() {
                return Err(Failure::usage("nothing was done: say --yes to do it without being asked"));
            }
            match ask(&format!("Forget {what}?")).map_err(Failure::error)? {
                Answer::Yes => {}
                Answer::No => return print("nothing was done\n"),
            }
        }
        match thing {
            Thing::Note(note) => {
                drop(desk.delete_note(&note.name, Some(note.origin)).map_err(Failure::error)?)
            }
            Thing::Episode(episode) => {
                drop(desk.delete_episode(episode.session_id.as_str()).map_err(Failure::error)?);
            }
            Thing::Learning(learning) => drop(desk.delete_learning(learning.id).map_err(Failure::error)?),
        }
        print(&format!("forgot {what}\n"))
    }
}
