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
    #[error("session {name} has no message that ends with event {seq}; list the rewind points")]
    NoSuchMessage { name: SessionName, seq: u64 },
    /// Only user messages can be rewound to.
    #[error("event {seq} of session {name} is not a user message; rewind to after it instead")]
    NotAPrompt { name: SessionName, seq: u64 },
    /// The checkpoint was removed to free space.
    #[error("checkpoint {id} was removed to free space; rewind only the conversation, or to a later message")]
    Lost {
        /// The checkpoint id in the log.
        id: String,
    },
    /// The rewind would undo changes that the session did not make.
    #[error("{}", conflicts_text(*count, first))]
    Conflicts { count: usize, first: PathBuf },
    #[error("session {name} already exists; choose another id for the new session")]
    Exists { name: SessionName },
    /// Files or conversation failed, and the files were put back.
    #[error("nothing was rewound: {reason}; the files are unchanged")]
    PutBack { reason: String },
    /// Files or conversation failed, and putting the files back failed too.
    #[error(
        "some files were rewound and cannot be put back: {reason}; fix this, then restore checkpoint {undo}"
    )]
    InPart {
        reason: String,
        /// The files before the rewind.
        undo: CheckpointId,
    },
}

fn conflicts_text(count: usize, first: &Path) -> String {
    let first = first.display();
    let since = "after the session's last call";
    match count {
        1 => format!("{first} changed {since}; confirm overwriting it, or save it first"),
        _ => format!(
            "{count} files changed {since}, such as {first}; confirm overwriting them, or save them first"
        ),
    }
}
