//! `MemoryError`: why the memory cannot be looked at or changed.

use rheon_store::sqlite::DatabaseError;
use rheon_tools::notes::NoteError;
use rheon_types::ClientError;

use crate::keeping::FolderError;

/// Why the memory cannot be looked at or changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Nobody says where it is.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A note cannot be written or removed.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// There is no such note.
    #[error("there is no note {name:?}; list the notes to see which there are")]
    NoNote {
        /// What was looked for.
        name: String,
    },
    /// The user and the project both have it.
    #[error("the user and the project both have a note {name:?}; say whose is meant")]
    BothHaveNote {
        /// What was looked for.
        name: String,
    },
    /// There is no such session in memory.
    #[error(
        "nothing is remembered of a session {session:?} of this project; list the episodes to see which there are"
    )]
    NoEpisode {
        /// What was looked for.
        session: String,
    },
    /// Several sessions begin so.
    #[error("{count} remembered sessions begin with {session:?}; write more of the one that is meant")]
    ManyEpisodes {
        /// What was looked for.
        session: String,
        /// How many there are.
        count: usize,
    },
    /// There is no such learning.
    #[error("there is no learning {id}; list the learnings to see which there are")]
    NoLearning {
        /// What was looked for.
        id: i64,
    },
    /// Another learning says it already.
    #[error("learning {other} says this already; {id} was not changed; delete one of them")]
    SaidAlready {
        /// The one that was to be changed.
        id: i64,
        /// The one that says it.
        other: i64,
    },
    /// The session has no goal.
    #[error("no goal is set; set one with /goal TEXT")]
    NoGoal,
    /// There is no such goal, or it is closed.
    #[error("this project has no open goal #{id}; /goal lists those there are")]
    NoOpenGoal {
        /// What was looked for.
        id: i64,
    },
    /// The goal is too long to be part of every request.
    #[error(
        "a goal has at most {chars_max} characters, and this one has {chars}; keep the details in a file and name it"
    )]
    LongGoal {
        /// How long it is.
        chars: usize,
        /// How long it may be.
        chars_max: usize,
    },
    /// What was asked for broke off.
    #[error("the memory was not changed: {0}")]
    Broken(String),
    /// There is nothing to be kept.
    #[error("{what} cannot be empty; delete it instead")]
    Empty {
        /// What was to be changed.
        what: &'static str,
    },
}

impl From<MemoryError> for ClientError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Folder(_)
            | MemoryError::Database(_)
            | MemoryError::Note(_)
            | MemoryError::Broken(_) => Self::failed(error),
            MemoryError::NoNote { .. }
            | MemoryError::NoEpisode { .. }
            | MemoryError::NoLearning { .. }
            | MemoryError::NoOpenGoal { .. } => Self::NotFound { message: error.to_string() },
            MemoryError::BothHaveNote { .. }
            | MemoryError::ManyEpisodes { .. }
            | MemoryError::SaidAlready { .. }
            | MemoryError::NoGoal
            | MemoryError::LongGoal { .. }
            | MemoryError::Empty { .. } => Self::invalid(error),
        }
    }
}
