//! The rows of the index as values: sessions, entries, tool calls and usage.

use std::path::PathBuf;

use crate::sqlite::names::stored_names;
use rheon_types::{MicroUsd, RunId, SessionId, Timestamp, ToolCallId, ToolName, Usage};

stored_names! {
    /// The status of a session's last run.
    SessionStatus {
        /// The run is active or was interrupted.
        Unfinished = "unfinished",
        /// The model finished.
        Completed = "completed",
        /// The last answer was cut off.
        Truncated = "truncated",
        /// A limit was reached.
        Limit = "limit",
        /// An input filter rejected the prompt.
        Rejected = "rejected",
        /// A hook stopped the run.
        Vetoed = "vetoed",
        /// The run was canceled.
        Aborted = "aborted",
        /// The run failed.
        Failed = "failed",
    }
}

stored_names! {
    /// Who wrote an entry.
    EntryRole {
        /// The user.
        User = "user",
        /// The runtime, with the user's role.
        Runtime = "runtime",
        /// The model.
        Assistant = "assistant",
        /// A tool.
        ToolResult = "toolResult",
        /// The summary of a compaction.
        Summary = "summary",
    }
}

stored_names! {
    /// The state of a tool call.
    CallState {
        /// It started; its outcome is unknown.
        Started = "started",
        /// It succeeded.
        Done = "done",
        /// It ended with an error.
        Failed = "failed",
        /// It was not allowed to run.
        Blocked = "blocked",
    }
}

/// Where a session's log is, and what it was forked from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSource {
    pub session_id: SessionId,
    pub project: String,
    pub path: PathBuf,
    pub parent: Option<ForkPoint>,
}

/// The point in another session that a fork starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkPoint {
    pub session_id: SessionId,
    /// The last shared event.
    pub seq: u64,
}

/// A session in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub source: SessionSource,
    /// Its own title, or else its first prompt.
    pub title: String,
    /// The shortened first prompt; empty until there is one.
    pub first_prompt: String,
    pub status: SessionStatus,
    pub created: Timestamp,
    /// The time of its last event.
    pub active: Timestamp,
    /// The models it used, in order of first use.
    pub models: Vec<String>,
    pub turns: u64,
    pub spend: Spend,
    /// The newest indexed event.
    pub seq: u64,
}

/// The usage of model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spend {
    pub calls: u64,
    /// How many calls have no known price. `cost` does not include them.
    pub calls_unpriced: u64,
    pub usage: Usage,
    pub cost: MicroUsd,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    pub seq: u64,
    pub run_id: RunId,
    pub role: EntryRole,
    pub at: Timestamp,
    /// Shortened to a limit.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// The event that started or blocked it.
    pub seq: u64,
    pub run_id: RunId,
    pub call_id: ToolCallId,
    pub name: ToolName,
    /// Shortened JSON.
    pub arguments: String,
    pub state: CallState,
    pub duration_ms: u64,
}
