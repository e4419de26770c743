//! `SessionFileError`: why a session cannot be used.

use rheon_types::StoreError;

use crate::journal::JournalError;
use crate::session_name::{SessionName, SessionNameError};

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SessionFileError {
    /// Its id cannot name a file.
    #[error(transparent)]
    Name(#[from] SessionNameError),
    /// Its journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// There is no such session.
    #[error("there is no session {name}")]
    Missing {
        /// Its id.
        name: SessionName,
    },
    /// It goes on from an event that is not there.
    #[error("session {name} has no event {seq}; its last is {last}")]
    NoSuchEvent {
        /// The session.
        name: SessionName,
        /// What was asked for.
        seq: u64,
        /// What there is.
        last: u64,
    },
    /// It goes on from others in a circle, or from too many.
    #[error("session {name} goes on from too many others, or from itself")]
    Ancestors {
        /// The session.
        name: SessionName,
    },
    /// Others go on from it.
    #[error("session {name} cannot be deleted: {children} others go on from it; delete those first")]
    HasChildren {
        /// The session.
        name: SessionName,
        /// How many.
        children: usize,
    },
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
