//! Rows beside the journals: an index that can be rebuilt from them, and what has no log of its own.
//!
//! `index.db` (`Index`) is a view of the journals: it may be deleted at any time. `memory.db` (`Memory`) holds goals and
//! learnings, which nothing else holds, and for the search what notes and earlier sessions say; it is synced before a write is acknowledged. All calls block; from async code they belong on a thread of their own.

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
    CallRow, CallState, Cursor, EntryRow, ForkPoint, Hit, Index, IndexState, ListQuery, Page, Recorded, Role,
    SearchQuery, SessionRow, SessionSource, Spend, Stats, Status, ToolStats,
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
