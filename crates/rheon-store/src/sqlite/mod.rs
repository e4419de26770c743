//! SQLite databases beside the journals: an index that can be rebuilt, and data with no log behind it.
//!
//! `index.db` ([`Index`]) is a view of the journals and may be deleted at any time. `memory.db` ([`Memory`]) is the
//! only copy of goals and learnings; for searches it also holds the texts of
//! notes and earlier sessions. It is synced before a write is acknowledged. All calls block: call them from a
//! blocking thread in async code.

mod database;
mod error;
mod files;
mod full_text;
mod index;
mod memory;
mod names;
mod number;
mod retry;
#[cfg(not(feature = "sqlite"))]
#[path = "stand_in.rs"]
mod rusqlite;
mod schema;

#[cfg(feature = "sqlite")]
extern crate rusqlite;

pub use database::{Database, OpenMode};
pub use error::DatabaseError;
pub use index::{
    CallRow, CallState, EntryMatch, EntryRole, EntryRow, ForkPoint, Index, IndexState, IndexUpdate,
    ListQuery, SearchQuery, SessionCursor, SessionPage, SessionRow, SessionSource, SessionStatus, Spend,
    ToolStats, UsageStats,
};
/// Whether SQLite is compiled in. Where it is not, no database can be opened.
pub const IS_COMPILED_IN: bool = cfg!(feature = "sqlite");

pub use memory::{
    Edited, Episode, Episodes, Evidence, Goal, GoalId, GoalStatus, Goals, Learning, LearningId,
    LearningStatus, Learnings, Memory, NoteKind, NoteRow, Notes, Proposal, Recalled,
};

#[cfg(test)]
mod fixture_tests;
#[cfg(test)]
mod processes_tests;
