//! What a directory entry can be, and the options for creating and replacing files.

use std::ffi::OsString;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub enum DirectoryEntry {
    Absent,
    Directory,
    /// A regular file, open for reading.
    File(File),
    /// Something that must not be opened: a symlink, device or pipe.
    Other(&'static str),
}

/// What to do if a directory does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnMissing {
    Create,
    Refuse,
}

/// Whether a new file may replace an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    Allow,
    /// An existing file is an error.
    Refuse,
}

/// How many names to try for a temporary file.
pub(super) const NAMES_MAX: usize = 100;

/// A temporary file name that is unique in this process.
pub(super) fn temporary_name() -> OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(".rheon-{}-{number}.tmp", std::process::id()).into()
}
