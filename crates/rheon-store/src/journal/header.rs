//! `JournalHeader` and `Lease`: what a journal records about itself.

use rheon_types::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// Always `rheon-journal`.
    pub format: String,
    pub version: u32,
    pub session_id: SessionId,
    pub created_at: Timestamp,
    /// The session's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The session this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<JournalParent>,
}

/// The point in another session that a fork starts from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalParent {
    pub session_id: SessionId,
    /// The last event of the parent that belongs to this session too.
    pub seq: u64,
}

/// A line written each time a process opens the journal for writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub pid: u32,
    /// The host name, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub at: Timestamp,
}

pub(crate) const FORMAT: &str = "rheon-journal";
