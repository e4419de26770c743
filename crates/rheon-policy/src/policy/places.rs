//! `Places`: the folders from which patterns of paths count.

use std::path::PathBuf;

/// The folders from which patterns of paths count. Libraries do not look them up; they are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Where the session works.
    pub working_folder: PathBuf,
    /// The user's home, for `~/`.
    pub home: Option<PathBuf>,
}
