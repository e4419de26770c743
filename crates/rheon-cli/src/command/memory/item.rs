//! One item of the memory, as named on the command line.

use rheon_app::memory::{Episode, FileOrigin, Goal, Learning, LearningId, MemoryManager, Note};
use serde_json::{Value, json};

use crate::failure::Failure;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct ItemFlags {
    /// The name of a note, the id of a session, or the number of a learning
    pub(super) name: String,

    /// Select a note
    #[arg(long, conflicts_with_all = ["episode", "learning"])]
    note: bool,

    /// Select an episode
    #[arg(long, conflicts_with = "learning")]
    episode: bool,

    /// Select a learning
    #[arg(long)]
    learning: bool,

    /// Select your own note if the project has one of the same name
    #[arg(long, conflicts_with = "project")]
    user: bool,

    /// Select the project's note
    #[arg(long)]
    project: bool,
}

pub(super) enum MemoryItem {
    Note(Note),
    Episode(Episode),
    Learning(Learning),
}

impl ItemFlags {
    pub(super) fn origin(&self) -> Option<FileOrigin> {
        match (self.user, self.project) {
            (true, _) => Some(FileOrigin::User),
            (false, true) => Some(FileOrigin::Project),
            (false, false) => None,
        }
    }

    /// Finds the item. Without a flag, a number is a learning; otherwise notes come before episodes.
    pub(super) fn find(&self, manager: &MemoryManager) -> Result<MemoryItem, Failure> {
        let number = self.name.parse().map(LearningId).ok();
        let note = || manager.note(&self.name, self.origin()).map(MemoryItem::Note);
        let episode = || manager.episode(&self.name).map(MemoryItem::Episode);
        match (self.note, self.episode, self.learning, number) {
            (true, ..) => note().map_err(Failure::error),
            (_, true, ..) => episode().map_err(Failure::error),
            (_, _, true, None) => {
                Err(Failure::usage(format_args!("invalid number {:?} for a learning", self.name)))
            }
            (_, _, true, Some(id)) => manager.learning(id).map(MemoryItem::Learning).map_err(Failure::error),
            (_, _, _, Some(id)) if manager.learning(id).is_ok() => {
                manager.learning(id).map(MemoryItem::Learning).map_err(Failure::error)
            }
            // The error about notes is more helpful: people type their names.
            _ => note().or_else(|missing| episode().map_err(|_| missing)).map_err(Failure::error),
        }
    }
}

pub(super) fn owner(origin: FileOrigin) -> &'static str {
    match origin {
        FileOrigin::User => "user",
        FileOrigin::Project => "project",
    }
}

pub(super) fn note_json(note: &Note) -> Value {
    json!({
        "what": "note",
        "name": note.name,
        "owner": owner(note.origin),
        "kind": note.kind.as_str(),
        "description": note.description,
        "created": note.created,
        "keywords": note.keywords,
        "text": note.text,
    })
}

pub(super) fn episode_json(episode: &Episode) -> Value {
    json!({
        "what": "episode",
        "session_id": episode.session_id,
        "summary": episode.summary,
        "outcome": episode.outcome.as_str(),
        "at": episode.at,
    })
}

pub(super) fn goal_json(goal: &Goal) -> Value {
    json!({
        "what": "goal",
        "id": goal.id.0,
        "text": goal.text,
        "status": goal.status.as_str(),
        "session_id": goal.session_id,
        "created": goal.created,
        "updated": goal.updated,
    })
}

pub(super) fn learning_json(learning: &Learning) -> Value {
    json!({
        "what": "learning",
        "id": learning.id.0,
        "text": learning.proposal.text,
        "status": learning.status.as_str(),
        "project": learning.proposal.project,
        "session_id": learning.proposal.session_id,
        "evidence_for": learning.evidence_for,
        "evidence_against": learning.evidence_against,
        "created": learning.created,
        "updated": learning.updated,
    })
}
