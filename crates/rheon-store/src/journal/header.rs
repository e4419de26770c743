//! `JournalHeader` and `Lease`: what a journal says of itself.

use rheon_types::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// Always `rheon-journal`.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// Whose journal it is.
    pub session_id: SessionId,
    /// When it was made.
    pub created_at: Timestamp,
    /// The folder that the session works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The session that it goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<JournalParent>,
}

/// Where a session goes on from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalParent {
    /// The other session.
    pub session_id: SessionId,
    /// The last of its events that belongs to this session too.
    pub seq: u64,
}

/// A writer has opened the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The process.
    pub pid: u32,
    /// The machine, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// What the first line calls itself.
pub(crate) const FORMAT: &str = "rheon-journal";
