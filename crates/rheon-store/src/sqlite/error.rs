//! `DatabaseError`: what can go wrong with a database, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::sqlite::rusqlite::{Error, ErrorCode};

/// A database that could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// A folder or a file could not be made ready.
    #[error("cannot prepare {path}: {source}; check that the folder can be written", path = path.display())]
    Prepare {
        /// The folder or the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such file, and it was opened for reading.
    #[error("there is no database at {path}", path = path.display())]
    Absent {
        /// Where it should be.
        path: PathBuf,
    },
    /// A newer version of the program made it.
    #[error(
        "{path} has version {found} and this program knows versions up to {known}: use the newer program, or move the \
         file away",
        path = path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// An older version of the program made it, and it was opened for reading.
    #[error("{path} has version {found} and must be brought to version {known}: open it for writing once", path = path.display())]
    Older {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version that is needed.
        known: i64,
    },
    /// It is a database of something else.
    #[error("{path} is a database of another kind; move it away", path = path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// Other processes kept it locked for too long.
    #[error("{path} is in use by other processes; try again when they are done", path = path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// There is no room for what should be written. What was there before is intact.
    #[error("cannot write {path}: the disk is full; free some space and try again", path = path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// It can be read but not written.
    #[error("{path} cannot be written; check the permissions of the file and its folder", path = path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// Its content is damaged.
    #[error("{path} is damaged: {detail}; move the file away, and a new one is begun", path = path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Events of one session were offered as those of another.
    #[error("an event of session {found:?} was offered as one of session {expected:?}")]
    OtherSession {
        /// The session they were offered for.
        expected: String,
        /// The session of the event.
        found: String,
    },
    /// Anything else.
    #[error("{path}: {source}", path = path.display())]
    Query {
        /// The database.
        path: PathBuf,
        /// What the database said.
        source: Error,
    },
}

impl DatabaseError {
    /// The error for what the database at `path` said.
    pub(super) fn new(path: &Path, source: Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly { path }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, detail: source.to_string() }
            }
            // The codes are another crate's list; whatever has no answer of its own is told as it is.
            Some(_) | None => Self::Query { path, source },
        }
    }

    /// Whether the content itself is at fault, so that a database which can be rebuilt should be.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}
