//! What can stand under a name in a folder, and what to do about it.

use std::ffi::OsString;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

/// What stands under a name.
#[derive(Debug)]
pub enum DirectoryEntry {
    /// Absent does.
    Absent,
    /// A folder.
    Directory,
    /// A regular file, open for reading.
    File(File),
    /// Something that must not be opened: a link, a device, a pipe.
    Other(&'static str),
}

/// What to do about a folder that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnMissing {
    /// It is made.
    Create,
    /// It is an error.
    Refuse,
}

/// What a new file may take the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// Whatever is there.
    Allow,
    /// OnMissing: a file that is there stays, and that is an error.
    Refuse,
}

/// How often another name is tried where one is taken.
pub(super) const NAMES_MAX: usize = 100;

/// A name for a temporary file that no other thread of this process uses.
pub(super) fn temporary_name() -> OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(".rheon-{}-{number}.tmp", std::process::id()).into()
}
