//! Rows beside the journals: an index that can be rebuilt from them, and what has no log of its own.
//!
//! `index.db` (`Index`) is a view of the journals: it may be deleted at any time. `memory.db` (`Memory`) holds goals,
//! learnings, remembered approvals and checkpoints, which nothing else holds, and for the search what notes and earlier
//! sessions say; it is synced before a write is acknowledged. All calls block; from async code they belong on a thread of their own.

mod database;
mod error;
mod files;
mod full_text;
mod index;
mod memory;
mod names;
mod number;
mod retry;
mod schema;

pub use database::{Database, OpenMode};
pub use error::DatabaseError;
pub use index::{
    CallRow, CallState, EntryMatch, EntryRole, EntryRow, ForkPoint, Index, IndexState, IndexUpdate,
    ListQuery, SearchQuery, SessionCursor, SessionPage, SessionRow, SessionSource, SessionStatus, Spend,
    ToolStats, UsageStats,
};
pub use memory::{
    Approvals, Checkpoint, CheckpointError, Checkpoints, Edited, Episode, Episodes, Evidence, Goal, GoalId,
    GoalStatus, Goals, Learning, LearningId, LearningStatus, Learnings, Memory, NoteKind, NoteRow, Notes,
    Progress, Proposal, Recalled, RememberedRule, RuleId, RuleList,
};

#[cfg(test)]
mod fixture_tests;
#[cfg(test)]
mod processes_tests;
