//! `MemoryError`: why the memory cannot be read or changed.

use rheon_store::sqlite::DatabaseError;
use rheon_tools::notes::NoteError;
use rheon_types::ClientError;

use crate::sessions::UserDirsError;

/// Why the memory cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Its directory is unknown.
    #[error(transparent)]
    Directory(#[from] UserDirsError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A note cannot be written or removed.
    #[error(transparent)]
    Note(#[from] NoteError),
    #[error("no such note: {name:?}; list the notes to see the names")]
    NoNote { name: String },
    /// The user and the project both have it.
    #[error("the user and the project both have a note {name:?}; choose one")]
    BothHaveNote { name: String },
    /// There is no such session in memory.
    #[error("no episode of a session {session:?} of this project; list the episodes to see the ids")]
    NoEpisode { session: String },
    #[error("{count} remembered sessions match {session:?}; write more of the id")]
    ManyEpisodes { session: String, count: usize },
    #[error("no such learning: {id}; list the learnings to see the ids")]
    NoLearning { id: i64 },
    #[error("learning {other} says this already; {id} was not changed; delete one of them")]
    SaidAlready { id: i64, other: i64 },
    #[error("no goal is set; set one with /goal TEXT")]
    NoGoal,
    /// There is no such goal, or it is closed.
    #[error("this project has no open goal #{id}; /goal lists the open ones")]
    NoOpenGoal { id: i64 },
    /// The goal is too long to be part of every request.
    #[error(
        "a goal has at most {chars_max} characters, and this one has {chars}; put the details into a file and name it"
    )]
    LongGoal { chars: usize, chars_max: usize },
    #[error("the memory was not changed: {0}")]
    Broken(String),
    #[error("{what} cannot be empty; delete it instead")]
    Empty { what: &'static str },
}

impl From<MemoryError> for ClientError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Directory(_)
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
