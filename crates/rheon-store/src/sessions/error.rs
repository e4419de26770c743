//! `SessionFileError`: why the files of a session cannot be used.

use rheon_types::StoreError;

use crate::journal::JournalError;
use crate::session_name::{SessionName, SessionNameError};

#[derive(Debug, thiserror::Error)]
pub enum SessionFileError {
    #[error(transparent)]
    Name(#[from] SessionNameError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("no session {name}")]
    Missing { name: SessionName },
    /// A fork from an event that does not exist.
    #[error("session {name} has no event {seq}; the last one is {last}")]
    NoSuchEvent { name: SessionName, seq: u64, last: u64 },
    /// The chain of parents is a cycle or too long.
    #[error("session {name} has too many ancestors, or is its own ancestor")]
    Ancestors { name: SessionName },
    #[error("cannot delete session {name}: it has forks ({children}); delete those first")]
    HasChildren { name: SessionName, children: usize },
}

impl From<SessionFileError> for StoreError {
    fn from(error: SessionFileError) -> Self {
        match error {
            SessionFileError::Journal(error) => error.into(),
            error @ (SessionFileError::Name(_)
            | SessionFileError::Missing { .. }
            | SessionFileError::NoSuchEvent { .. }
            | SessionFileError::Ancestors { .. }
            | SessionFileError::HasChildren { .. }) => Self::new(error.to_string()),
        }
    }
}
