//! One thing that is remembered, as it is named on the command line.

use rheon_app::memory::{Episode, Goal, Learning, LearningId, MemoryManager, Note, Origin};
use serde_json::{Value, json};

use crate::failure::Failure;

/// What is meant.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ThingFlags {
    /// The name of a note, the id of a session, or the number of a learning
    pub(super) name: String,

    /// A note is meant
    #[arg(long, conflicts_with_all = ["episode", "learning"])]
    note: bool,

    /// An earlier session is meant
    #[arg(long, conflicts_with = "learning")]
    episode: bool,

    /// A learning is meant
    #[arg(long)]
    learning: bool,

    /// The note of the user, where the project has one of the same name
    #[arg(long, conflicts_with = "project")]
    user: bool,

    /// The note of the project
    #[arg(long)]
    project: bool,
}

/// One thing that is remembered.
pub(super) enum Thing {
    Note(Note),
    Episode(Episode),
    Learning(Learning),
}

impl ThingFlags {
    /// Whose note is meant.
    pub(super) fn whose(&self) -> Option<Origin> {
        match (self.user, self.project) {
            (true, _) => Some(Origin::User),
            (false, true) => Some(Origin::Project),
            (false, false) => None,
        }
    }

    /// Finds what is meant. What is not said follows from the name: a number is a learning, else a note is looked for before a session.
    pub(super) fn find(&self, desk: &MemoryManager) -> Result<Thing, Failure> {
        let number = self.name.parse().map(LearningId).ok();
        let note = || desk.note(&self.name, self.whose()).map(Thing::Note);
        let episode = || desk.episode(&self.name).map(Thing::Episode);
        match (self.note, self.episode, self.learning, number) {
            (true, ..) => note().map_err(Failure::error),
            (_, true, ..) => episode().map_err(Failure::error),
            (_, _, true, None) => {
                Err(Failure::usage(format_args!("a learning has a number, and {:?} is none", self.name)))
            }
            (_, _, true, Some(id)) => desk.learning(id).map(Thing::Learning).map_err(Failure::error),
            (_, _, _, Some(id)) if desk.learning(id).is_ok() => {
                desk.learning(id).map(Thing::Learning).map_err(Failure::error)
            }
            // Of the two errors, the one about notes says more: names are typed by people.
            _ => note().or_else(|missing| episode().map_err(|_| missing)).map_err(Failure::error),
        }
    }
}

/// Whose a note is, in a word.
pub(super) fn owner(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "user",
        Origin::Project => "project",
    }
}

/// A note for programs.
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

/// An earlier session for programs.
pub(super) fn episode_json(episode: &Episode) -> Value {
    json!({
        "what": "episode",
        "session_id": episode.session_id,
        "summary": episode.summary,
        "outcome": episode.outcome.as_str(),
        "at": episode.at,
    })
}

/// A goal for programs.
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

/// A learning for programs.
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
