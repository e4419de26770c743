//! `rheon memory search`.

use rheon_app::memory::Recalled;
use serde_json::{Value, json};

use super::item::episode_json;
use super::manager::manager;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::print;
use crate::table::{Side, Table};

/// Search notes and episodes, best match first
#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// The words to search for
    query: String,

    /// Show at most this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const FOUND_MAX: usize = 100;

impl Search {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let found = manager()?.search(&self.query, self.limit.clamp(1, FOUND_MAX)).map_err(Failure::error)?;
        if self.json {
            return print(&as_json(&found.iter().map(json_of).collect::<Vec<Value>>())?);
        }
        if found.is_empty() {
            return print("no matches\n");
        }
        let mut table = Table::new(&[("what", Side::Left), ("name", Side::Left), ("about", Side::Left)]);
        for found in &found {
            match found {
                Recalled::Note(note) => {
                    table.row(["note".into(), note.name.clone(), note.description.clone()])
                }
                Recalled::Episode(episode) => {
                    table.row(["session".into(), episode.session_id.to_string(), episode.summary.clone()]);
                }
            }
        }
        print(&table.text())
    }
}

fn json_of(found: &Recalled) -> Value {
    match found {
        Recalled::Note(note) => json!({
            "what": "note",
            "name": note.name,
            "owner": if note.project.is_some() { "project" } else { "user" },
            "description": note.description,
        }),
        Recalled::Episode(episode) => episode_json(episode),
    }
}
