//! `TrustError`: why a project cannot be trusted, or what was trusted cannot be known.

use std::path::PathBuf;

use crate::hooks::HookSettingsError;

/// Why a project cannot be trusted, or what was trusted cannot be known. Nothing of the project is used then.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A file or folder cannot be read.
    #[error("cannot read {path:?}: {error}")]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// Something is too large or too much to be trusted.
    #[error("the project cannot be trusted: {path:?} {problem}; remove it or leave the project untrusted")]
    Untrustable {
        /// Where.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The hooks of a file cannot be read.
    #[error(transparent)]
    Settings(#[from] HookSettingsError),
    /// What was trusted cannot be read.
    #[error("cannot read what was trusted from {file:?}: {problem}; remove the file to trust anew")]
    Store {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// What is trusted cannot be written.
    #[error("cannot save what is trusted to {file:?}: {error}")]
    Unsaved {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
}

impl TrustError {
    pub(crate) fn untrustable(path: impl Into<PathBuf>, problem: impl Into<String>) -> Self {
        Self::Untrustable { path: path.into(), problem: problem.into() }
    }
}
