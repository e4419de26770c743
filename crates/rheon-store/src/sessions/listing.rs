//! `SessionListing`: a session in a list.

use std::path::PathBuf;

use crate::journal::JournalHeader;
use crate::session_name::SessionName;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionListing {
    /// Its id.
    pub name: SessionName,
    /// Where its journal is.
    pub path: PathBuf,
    /// What the journal says of itself; or why it cannot be read.
    pub header: Result<JournalHeader, String>,
    /// When it was last written to, in milliseconds since 1970.
    pub modified_ms: u64,
    /// How long the journal is.
    pub bytes: u64,
}
