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
    #[error("there is no session {name}")]
    Missing { name: SessionName },
    /// A fork from an event that does not exist.
    #[error("session {name} has no event {seq}; its last is {last}")]
    NoSuchEvent { name: SessionName, seq: u64, last: u64 },
    /// The chain of parents is a cycle or too long.
    #[error("session {name} goes on from too many others, or from itself")]
    Ancestors { name: SessionName },
    #[error("session {name} cannot be deleted: {children} others go on from it; delete those first")]
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
