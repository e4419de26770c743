//! `rheon memory list`.

use rheon_app::memory::{Episode, Goal, Learning, Note};
use serde_json::json;

use super::item::{episode_json, goal_json, learning_json, note_json, owner};
use super::manager::manager;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, print_note};
use crate::table::{Side, Table};

/// List notes, open goals, learnings and the newest episodes
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// List at most this many of each
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let manager = manager()?;
        let (notes, warnings) = manager.notes();
        for warning in &warnings {
            print_note(&format!("note: {warning}"));
        }
        let goals = manager.goals().map_err(Failure::error)?;
        let learnings = manager.learnings().map_err(Failure::error)?;
        let episodes = manager.episodes().map_err(Failure::error)?;
        if self.json {
            return print(&as_json(&json!({
                "notes": notes.iter().map(note_json).collect::<Vec<_>>(),
                "goals": goals.iter().map(goal_json).collect::<Vec<_>>(),
                "learnings": learnings.iter().map(learning_json).collect::<Vec<_>>(),
                "episodes": episodes.iter().map(episode_json).collect::<Vec<_>>(),
            }))?);
        }
        let parts =
            [self.notes(&notes), self.goals(&goals), self.learnings(&learnings), self.episodes(&episodes)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            return print("the memory is empty\n");
        }
        print(&parts.join("\n"))
    }

    fn notes(&self, notes: &[Note]) -> Option<String> {
        let mut table = Table::new(&[("note", Side::Left), ("of", Side::Left), ("about", Side::Left)]);
        for note in notes.iter().take(self.limit) {
            table.row([note.name.clone(), owner(note.origin).into(), note.description.clone()]);
        }
        self.part(&table, notes.len())
    }

    fn goals(&self, goals: &[Goal]) -> Option<String> {
        let mut table = Table::new(&[("goal", Side::Right), ("session", Side::Left), ("text", Side::Left)]);
        for goal in goals.iter().take(self.limit) {
            table.row([goal.id.0.to_string(), goal.session_id.to_string(), goal.text.clone()]);
        }
        self.part(&table, goals.len())
    }

    fn learnings(&self, learnings: &[Learning]) -> Option<String> {
        let columns =
            [("learning", Side::Right), ("status", Side::Left), ("+/-", Side::Left), ("text", Side::Left)];
        let mut table = Table::new(&columns);
        for learning in learnings.iter().take(self.limit) {
            table.row([
                learning.id.0.to_string(),
                learning.status.as_str().into(),
                format!("{}/{}", learning.evidence_for, learning.evidence_against),
                learning.proposal.text.clone(),
            ]);
        }
        self.part(&table, learnings.len())
    }

    fn episodes(&self, episodes: &[Episode]) -> Option<String> {
        let mut table =
            Table::new(&[("session", Side::Left), ("outcome", Side::Left), ("about", Side::Left)]);
        for episode in episodes.iter().take(self.limit) {
            table.row([
                episode.session_id.to_string(),
                episode.outcome.as_str().into(),
                episode.summary.clone(),
            ]);
        }
        self.part(&table, episodes.len())
    }

    fn part(&self, table: &Table, count: usize) -> Option<String> {
        let more = count.saturating_sub(self.limit);
        let cut = if more == 0 { String::new() } else { format!("and {more} more (show more with -n)\n") };
        (count > 0).then(|| table.text() + &cut)
    }
}
