//! `TrustError`: why trust cannot be granted, checked or saved.

use std::path::PathBuf;

use crate::hooks::HookSettingsError;

/// Why trust cannot be granted, checked or saved. Nothing from the project is used then.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("cannot read {path:?}: {error}")]
    Unreadable {
        path: PathBuf,
        #[source]
        error: std::io::Error,
    },
    /// Something is too large or too much to trust.
    #[error("cannot trust the project: {path:?} {problem}; remove it or continue without trust")]
    Untrustable { path: PathBuf, problem: String },
    /// A file of the user's answers cannot be changed.
    #[error("{path:?} {problem}")]
    AnswerFile { path: PathBuf, problem: String },
    #[error(transparent)]
    Settings(#[from] HookSettingsError),
    /// The trust file cannot be read.
    #[error("cannot read trusted projects from {file:?}: {problem}; delete the file to reset trust")]
    Store { file: PathBuf, problem: String },
    /// The trust file cannot be written.
    #[error("cannot save trusted projects to {file:?}: {error}")]
    Unsaved {
        file: PathBuf,
        #[source]
        error: std::io::Error,
    },
}

impl TrustError {
    pub(crate) fn untrustable(path: impl Into<PathBuf>, problem: impl Into<String>) -> Self {
        Self::Untrustable { path: path.into(), problem: problem.into() }
    }
}
