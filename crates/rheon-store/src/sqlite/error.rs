//! `DatabaseError`: why a database cannot be used, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::sqlite::rusqlite::{Error, ErrorCode};

/// A database that cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("cannot prepare {path}: {source}; check that the directory is writable", path = path.display())]
    Prepare { path: PathBuf, source: io::Error },
    /// It does not exist and was opened for reading.
    #[error("no database at {path}", path = path.display())]
    Absent { path: PathBuf },
    /// A newer version of Rheon created it.
    #[error(
        "{path} has version {found} and this program knows versions up to {known}: use the newer program, or move the \
         file away",
        path = path.display()
    )]
    Newer {
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version this program supports.
        known: i64,
    },
    /// An older version of Rheon created it, and it was opened for reading.
    #[error("{path} has version {found} and must be migrated to version {known}: open it for writing once", path = path.display())]
    Older {
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The required version.
        known: i64,
    },
    /// It belongs to another program.
    #[error("{path} belongs to another program; move it away", path = path.display())]
    Foreign { path: PathBuf },
    /// Other processes held the lock for too long.
    #[error("{path} is locked by another process; try again later", path = path.display())]
    Busy { path: PathBuf },
    /// The disk is full. Existing data is intact.
    #[error("cannot write {path}: the disk is full; free some space and try again", path = path.display())]
    Full { path: PathBuf },
    #[error("cannot write {path}; check the permissions of the file and its directory", path = path.display())]
    ReadOnly { path: PathBuf },
    #[error("{path} is damaged: {detail}; move the file away to start a new one", path = path.display())]
    Damaged { path: PathBuf, detail: String },
    /// An event does not belong to the session it was recorded for.
    #[error("an event of session {found:?} was recorded for session {expected:?}")]
    OtherSession { expected: String, found: String },
    /// Any other error of SQLite.
    #[error("{path}: {source}", path = path.display())]
    Query { path: PathBuf, source: Error },
}

impl DatabaseError {
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
            // The list of codes is non-exhaustive, so this match needs a default.
            Some(_) | None => Self::Query { path, source },
        }
    }

    /// Whether the content is damaged, so that a rebuildable database should be rebuilt.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}
