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
    #[error("{} is in use by {holder}; close it there, open it read-only, or fork the session", path.display())]
    InUse { path: PathBuf, holder: String },
    #[error("{} already exists", path.display())]
    Exists { path: PathBuf },
    #[error("no session found at {}", path.display())]
    Missing { path: PathBuf },
    /// The first line is damaged or is not a header.
    #[error("{} is not a session journal: {problem}", path.display())]
    NotAJournal { path: PathBuf, problem: LineProblem },
    /// A later version of Rheon wrote it, so this one must not write to it.
    #[error(
        "{} was written by a newer version of Rheon ({what}), so this one can only read it; update Rheon, or fork the \
         session (--fork-session)", path.display()
    )]
    Newer {
        path: PathBuf,
        /// What this version does not know.
        what: NewerContent,
    },
    /// A line is intact but cannot be parsed.
    #[error("cannot read event {seq} in {}: {problem}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The number the event should have.
        seq: u64,
        problem: String,
    },
}

/// What shows that a later version of Rheon wrote a journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NewerContent {
    #[error("format version {0} instead of {JOURNAL_VERSION}")]
    Format(u32),
    #[error("event {seq} is an unknown {name:?}")]
    Event { seq: u64, name: String },
    #[error("{0} unknown lines")]
    Lines(u64),
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
        return "this file system does not support locks: use a directory on a local disk";
    }
    if is_any(&[Errno::MFILE, Errno::NFILE]) {
        return "too many open files: close some or raise the limit (ulimit -n), then try again";
    }
    // `io::ErrorKind` is non-exhaustive, so this match needs a default.
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some disk space and try again; everything saved so far is safe"
        }
        io::ErrorKind::FileTooLarge => "raise the file size limit (ulimit -f) and try again",
        io::ErrorKind::ReadOnlyFilesystem => "use a writable directory",
        io::ErrorKind::PermissionDenied => "make it writable, or use another directory",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file is in the way of a directory: move it, or use another directory"
        }
        _ => "check the disk or use another directory, then try again",
    }
}
