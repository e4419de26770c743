//! `RewindError`: why nothing was rewound, or not all of it.

use std::path::{Path, PathBuf};

use crate::checkpoint::{CheckpointError, CheckpointId};
use crate::session_name::SessionName;
use crate::sessions::SessionFileError;

/// Why nothing was rewound, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    /// The session cannot be read or forked.
    #[error(transparent)]
    Session(#[from] SessionFileError),
    /// The files cannot be captured or restored.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The conversation has no such message.
    #[error("the conversation of session {name} has no message that ended with event {seq}; list its points")]
    NoSuchMessage {
        /// The session.
        name: SessionName,
        /// What was asked for.
        seq: u64,
    },
    /// Only what the user said can be said again.
    #[error("event {seq} of session {name} is not something that the user said; rewind to after it instead")]
    NotAPrompt {
        /// The session.
        name: SessionName,
        /// What was asked for.
        seq: u64,
    },
    /// The files as they were had to make room.
    #[error(
        "the files as they were then (checkpoint {id}) had to make room; rewind the conversation alone, or to a later message"
    )]
    Lost {
        /// The checkpoint, as the log names it.
        id: String,
    },
    /// Somebody else's work would be undone.
    #[error("{}", others(*count, first))]
    Conflicts {
        /// How many.
        count: usize,
        /// The first.
        first: PathBuf,
    },
    /// There is already a session of that name.
    #[error("there is already a session {name}; choose another id for the one that goes on")]
    Exists {
        /// Its id.
        name: SessionName,
    },
    /// One of the two failed, and nothing has changed.
    #[error("nothing was rewound, and the files are as they were before: {reason}")]
    PutBack {
        /// What failed.
        reason: String,
    },
    /// One of the two failed, and so did putting the files back.
    #[error(
        "the files were rewound in part and could not all be put back: {reason}; restore checkpoint {undo} once that is mended"
    )]
    InPart {
        /// What failed.
        reason: String,
        /// The files as they were before.
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
