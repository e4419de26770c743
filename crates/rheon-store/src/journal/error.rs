//! `JournalError`: why a journal cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use rheon_types::StoreError;
use rustix::io::Errno;

use super::record::{JOURNAL_VERSION, LineProblem};

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The verb for the message, such as "read".
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// Another process is writing to it.
    #[error("{} is in use by {holder}; close it there, open it only to read, or fork the session", path.display())]
    InUse { path: PathBuf, holder: String },
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    #[error("there is no session in {}", path.display())]
    Missing { path: PathBuf },
    /// The first line is damaged or is not a header.
    #[error("{} is not the journal of a session: {problem}", path.display())]
    NotAJournal { path: PathBuf, problem: LineProblem },
    /// A later version of Rheon wrote it.
    #[error("{} has version {version} of the format; this program reads up to {JOURNAL_VERSION}", path.display())]
    Newer { path: PathBuf, version: u32 },
    /// A line is intact but cannot be parsed.
    #[error("event {seq} in {} cannot be read: {problem}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The number the event should have.
        seq: u64,
        problem: String,
    },
}

impl JournalError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

impl From<JournalError> for StoreError {
    fn from(error: JournalError) -> Self {
        match &error {
            JournalError::Io { source, .. } => Self::new(format!("{error}; {}", next_step(source))),
            JournalError::InUse { .. }
            | JournalError::Exists { .. }
            | JournalError::Missing { .. }
            | JournalError::NotAJournal { .. }
            | JournalError::Newer { .. }
            | JournalError::Unreadable { .. } => Self::new(error.to_string()),
        }
    }
}

/// Suggests what to do about a failed disk operation.
pub fn next_step(error: &io::Error) -> &'static str {
    let is_any = |errnos: &[Errno]| errnos.iter().any(|it| error.raw_os_error() == Some(it.raw_os_error()));
    if is_any(&[Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS]) {
        return "this file system keeps no locks, so two programs could write at once: choose a folder on a local disk";
    }
    if is_any(&[Errno::MFILE, Errno::NFILE]) {
        return "too many files are open: close some, or raise the limit (ulimit -n), and try again";
    }
    // `io::ErrorKind` is non-exhaustive, so this match needs a default.
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and try again; what was kept so far is safe"
        }
        io::ErrorKind::FileTooLarge => "raise the limit for the size of files (ulimit -f) and try again",
        io::ErrorKind::ReadOnlyFilesystem => "choose a folder that can be written",
        io::ErrorKind::PermissionDenied => "make it writable for you, or choose another folder",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file stands where a folder belongs: move it away, or choose another folder"
        }
        _ => "look after the disk, or choose another folder, and try again",
    }
}
