//! `SessionListing`: a session in a list.

use std::path::PathBuf;

use crate::journal::JournalHeader;
use crate::session_name::SessionName;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionListing {
    pub name: SessionName,
    pub path: PathBuf,
    /// The header, or why it cannot be read.
    pub header: Result<JournalHeader, String>,
    /// Milliseconds since 1970.
    pub modified_ms: u64,
    pub bytes: u64,
}
