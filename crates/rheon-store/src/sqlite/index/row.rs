//! What the index holds, as values: sessions, entries, tool calls, and what was spent.

use std::path::PathBuf;

use crate::sqlite::names::stored_names;
use rheon_types::{MicroUsd, RunId, SessionId, Timestamp, ToolCallId, ToolName, Usage};

stored_names! {
    /// How a session stands, by its last run.
    SessionStatus {
        /// The run has not ended: it goes on, or was interrupted.
        Unfinished = "unfinished",
        /// The model was done.
        Completed = "completed",
        /// The last answer was cut off.
        Truncated = "truncated",
        /// A limit was reached.
        Limit = "limit",
        /// An input filter refused the prompt.
        Rejected = "rejected",
        /// A hook refused.
        Vetoed = "vetoed",
        /// It was cancelled.
        Aborted = "aborted",
        /// It failed.
        Failed = "failed",
    }
}

stored_names! {
    /// Who said it.
    EntryRole {
        /// The user.
        User = "user",
        /// The run itself, in the user's name.
        Runtime = "runtime",
        /// The model.
        Assistant = "assistant",
        /// A tool.
        ToolResult = "toolResult",
        /// The summary of what was dropped from the window.
        Summary = "summary",
    }
}

stored_names! {
    /// How far a tool call came.
    CallState {
        /// It began; how it ended is not known.
        Started = "started",
        /// It ended well.
        Done = "done",
        /// It ended with an error.
        Failed = "failed",
        /// It was not allowed to run.
        Blocked = "blocked",
    }
}

/// Where a session's log is, and what it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSource {
    /// The session.
    pub session_id: SessionId,
    /// The project it belongs to.
    pub project: String,
    /// Its log.
    pub path: PathBuf,
    /// Where it was forked from.
    pub parent: Option<ForkPoint>,
}

/// The place in another session where a session began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkPoint {
    /// The other session.
    pub session_id: SessionId,
    /// The last event that both share.
    pub seq: u64,
}

/// A session in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Where its log is, and what it came from.
    pub source: SessionSource,
    /// The first prompt in short; empty before there is one.
    pub title: String,
    /// How it stands.
    pub status: SessionStatus,
    /// When it began.
    pub created: Timestamp,
    /// When its last event happened.
    pub active: Timestamp,
    /// The models that it worked with, in order of first use.
    pub models: Vec<String>,
    /// How many turns were begun.
    pub turns: u64,
    /// What it used.
    pub spend: Spend,
    /// The newest event that the row tells of.
    pub seq: u64,
}

/// What model calls used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spend {
    /// How many calls.
    pub calls: u64,
    /// How many of them have no known price; `cost` leaves them out.
    pub calls_unpriced: u64,
    /// Tokens.
    pub usage: Usage,
    /// Money.
    pub cost: MicroUsd,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    /// The event.
    pub seq: u64,
    /// The run.
    pub run_id: RunId,
    /// Who said it.
    pub role: EntryRole,
    /// When.
    pub at: Timestamp,
    /// What, up to a cap.
    pub text: String,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// The event that began it, or that refused it.
    pub seq: u64,
    /// The run.
    pub run_id: RunId,
    /// The call.
    pub call_id: ToolCallId,
    /// The tool.
    pub name: ToolName,
    /// The arguments in short.
    pub arguments: String,
    /// How far it came.
    pub state: CallState,
    /// How long it took.
    pub duration_ms: u64,
}
