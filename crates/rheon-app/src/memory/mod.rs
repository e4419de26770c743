//! Memory across sessions: notes, episodes, goals and learnings; where they are, how a session adds to them, and how people
//! look at it and change it.

mod episodes;
mod error;
mod goal;
mod manager;
mod notes;
mod places;
mod secrets;
mod store;

pub use episodes::EpisodeRecorder;
pub use error::MemoryError;
pub use goal::{GOAL_CHARS_MAX, GoalAnswer, SessionGoal};
pub use manager::{MemoryManager, NoteEdit};
pub use notes::{index_notes, memory_tool};
pub use places::MemoryPaths;
pub use rheon_store::sqlite::{
    Episode, Goal, GoalId, GoalStatus, Learning, LearningId, LearningStatus, Proposal, Recalled,
};
pub use rheon_tools::notes::Note;
pub use rheon_tools::skills::FileOrigin;
pub use secrets::redacted;
pub use store::MemoryStore;

pub(crate) use episodes::relevant_episodes;
pub(crate) use goal::open_goals_text;

#[cfg(test)]
mod episodes_tests;
#[cfg(test)]
mod secrets_tests;
