//! `RewindError`: why a rewind failed.

use std::path::{Path, PathBuf};

use crate::checkpoint::{CheckpointError, CheckpointId};
use crate::session_name::SessionName;
use crate::sessions::SessionFileError;

/// Why a rewind failed, completely or in part.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    #[error(transparent)]
    Session(#[from] SessionFileError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("the conversation of session {name} has no message that ended with event {seq}; list its points")]
    NoSuchMessage { name: SessionName, seq: u64 },
    /// Only user messages can be rewound to.
    #[error("event {seq} of session {name} is not something that the user said; rewind to after it instead")]
    NotAPrompt { name: SessionName, seq: u64 },
    /// The checkpoint was removed to free space.
    #[error(
        "the files as they were then (checkpoint {id}) had to make room; rewind the conversation alone, or to a later message"
    )]
    Lost {
        /// The checkpoint id in the log.
        id: String,
    },
    /// The rewind would undo changes that the session did not make.
    #[error("{}", others(*count, first))]
    Conflicts { count: usize, first: PathBuf },
    #[error("there is already a session {name}; choose another id for the one that goes on")]
    Exists { name: SessionName },
    /// Files or conversation failed, and the files were put back.
    #[error("nothing was rewound, and the files are as they were before: {reason}")]
    PutBack { reason: String },
    /// Files or conversation failed, and putting the files back failed too.
    #[error(
        "the files were rewound in part and could not all be put back: {reason}; restore checkpoint {undo} once that is mended"
    )]
    InPart {
        reason: String,
        /// The files before the rewind.
        undo: CheckpointId,
    },
}

fn others(count: usize, first: &Path) -> String {
    let first = first.display();
    let since = "after the session's last call";
    match count {
        1 => format!("{first} was changed by somebody else {since}; agree to that or save it first"),
        _ => format!(
            "{count} files were changed by somebody else {since}, the first is {first}; agree to that or save them first"
        ),
    }
}
