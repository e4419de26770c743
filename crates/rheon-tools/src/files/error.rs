//! `FileError`: why a file was not read or changed.

use std::io;

use rheon_policy::PathError;
use rheon_types::ToolError;

use crate::files::claims::ClaimConflict;

/// Why a file was not read or changed. Paths are given as they are shown to the model.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path itself is wrong.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The path leads out of the workspace.
    #[error("{path} is outside the workspace; only files in the workspace can be used")]
    Outside {
        /// Where it leads.
        path: String,
    },
    /// It may hold keys.
    #[error("{path} is where keys are kept; no tool looks at it; ask the user for what you need")]
    Hidden {
        /// Where it leads.
        path: String,
    },
    /// Tools must not change it.
    #[error(
        "{path} is protected (git, hooks or settings of agents): tools must not change it; ask the user to do it"
    )]
    Protected {
        /// Where it leads.
        path: String,
    },
    /// There is no such file.
    #[error("there is no file {path}")]
    Missing {
        /// The path.
        path: String,
    },
    /// It is a folder.
    #[error("{path} is a folder; use `list` to see what is in it")]
    IsFolder {
        /// The path.
        path: String,
    },
    /// It is neither a file nor a folder, or a file that the kernel makes up.
    #[error("{path} is {kind}, not a regular file; it is not opened")]
    NotRegular {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// It has more bytes than the tool takes.
    #[error("{path} has {size} bytes, more than the {limit} that can be handled as one file")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// It exists and was never read in this session.
    #[error("{path} exists and was not read in this session; use `read` on it first")]
    NeverRead {
        /// The path.
        path: String,
    },
    /// Somebody else changed it.
    #[error("{path} changed since it was read; use `read` on it again before you change it")]
    Changed {
        /// The path.
        path: String,
    },
    /// Its mode forbids changes.
    #[error("{path} is read-only; its mode has to be changed first")]
    ReadOnly {
        /// The path.
        path: String,
    },
    /// Its bytes are not text that can be written back unchanged.
    #[error("{path} is not UTF-8 text ({problem}); it cannot be edited as text")]
    NotText {
        /// The path.
        path: String,
        /// What it is instead.
        problem: &'static str,
    },
    /// Another agent is at work on it.
    #[error(transparent)]
    Claimed(#[from] ClaimConflict),
    /// The call was cancelled before anything was changed.
    #[error("cancelled before {path} was changed")]
    Cancelled {
        /// The path.
        path: String,
    },
    /// The system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// What leads out of the workspace is denied; everything else failed. The model is told either way.
impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        match error {
            FileError::Outside { .. } | FileError::Hidden { .. } | FileError::Protected { .. } => {
                Self::Denied(message)
            }
            FileError::Cancelled { .. } => Self::Cancelled(message),
            FileError::Path(_)
            | FileError::Missing { .. }
            | FileError::IsFolder { .. }
            | FileError::NotRegular { .. }
            | FileError::TooLarge { .. }
            | FileError::NeverRead { .. }
            | FileError::Changed { .. }
            | FileError::ReadOnly { .. }
            | FileError::NotText { .. }
            | FileError::Claimed(_)
            | FileError::Io { .. } => Self::Failed(message),
        }
    }
}
