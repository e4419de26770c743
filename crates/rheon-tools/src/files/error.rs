//! `FileError`: why a file was not read or changed.

use std::io;

use rheon_policy::PathError;
use rheon_types::ToolError;

use crate::files::claims::ClaimConflict;

/// Why a file was not read or changed. Paths are in the form shown to the model.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{path} is outside the workspace, and the call was not approved for it")]
    Outside { path: String },
    #[error("{path} leads to another file than when the call was checked; call the tool again")]
    Moved { path: String },
    #[error("{path} may hold keys, so tools cannot use it; ask the user for what you need")]
    Hidden { path: String },
    #[error(
        "{path} is protected (git, hooks or agent settings), and the call was not approved for it; ask the user to change it"
    )]
    Protected { path: String },
    #[error("{path} does not exist")]
    Missing { path: String },
    #[error("{path} is a directory; use `list` to see its entries")]
    IsDir { path: String },
    /// Neither a file nor a directory, or a file that the kernel generates.
    #[error("{path} is {kind}, not a regular file")]
    NotRegular { path: String, kind: &'static str },
    #[error("{path} has {size} bytes; the limit for one file is {limit}")]
    TooLarge { path: String, size: u64, limit: u64 },
    #[error("{path} exists but was not read in this session; use `read` on it first")]
    NeverRead { path: String },
    #[error("{path} changed since it was read; use `read` on it again before you change it")]
    Changed { path: String },
    #[error("{path} is read-only; change its mode first")]
    ReadOnly { path: String },
    /// The bytes could not be written back unchanged after an edit.
    #[error("{path} is not UTF-8 text ({problem}); it cannot be edited as text")]
    NotText { path: String, problem: &'static str },
    #[error(transparent)]
    Claimed(#[from] ClaimConflict),
    #[error("cancelled before {path} was changed")]
    Cancelled { path: String },
    #[error("cannot {action} {path}: {source}")]
    Io { action: &'static str, path: String, source: io::Error },
}

/// Paths that tools may not use are denials; everything else is a failure. The model sees the message either way.
impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        match error {
            FileError::Outside { .. }
            | FileError::Moved { .. }
            | FileError::Hidden { .. }
            | FileError::Protected { .. } => Self::Denied(message),
            FileError::Cancelled { .. } => Self::Cancelled(message),
            FileError::Path(_)
            | FileError::Missing { .. }
            | FileError::IsDir { .. }
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
