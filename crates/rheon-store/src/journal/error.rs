//! `JournalError`: why a journal cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use rheon_types::StoreError;
use rustix::io::Errno;

use super::record::{JOURNAL_VERSION, LineProblem};

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk says no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Somebody else writes to it.
    #[error("{} is in use by {holder}; close it there, open it only to read, or fork the session", path.display())]
    InUse {
        /// The journal.
        path: PathBuf,
        /// Who.
        holder: String,
    },
    /// It is there already.
    #[error("{} exists already", path.display())]
    Exists {
        /// The journal.
        path: PathBuf,
    },
    /// There is none.
    #[error("there is no session in {}", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// Its first line is damaged or something else.
    #[error("{} is not the journal of a session: {problem}", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
        /// What is wrong with its first line.
        problem: LineProblem,
    },
    /// It was written by a later version.
    #[error("{} has version {version} of the format; this program reads up to {JOURNAL_VERSION}", path.display())]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// A line cannot be understood though it is whole.
    #[error("event {seq} in {} cannot be read: {problem}", path.display())]
    Unreadable {
        /// The journal.
        path: PathBuf,
        /// The number that the event should have.
        seq: u64,
        /// Why.
        problem: String,
    },
}

impl JournalError {
    /// What goes wrong with a file.
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

/// What to do about a disk that says no.
pub fn next_step(error: &io::Error) -> &'static str {
    let is_any = |errnos: &[Errno]| errnos.iter().any(|it| error.raw_os_error() == Some(it.raw_os_error()));
    if is_any(&[Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS]) {
        return "this file system keeps no locks, so two programs could write at once: choose a folder on a local disk";
    }
    if is_any(&[Errno::MFILE, Errno::NFILE]) {
        return "too many files are open: close some, or raise the limit (ulimit -n), and try again";
    }
    // The kinds are the standard library's list; whatever has no answer of its own has the last.
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
