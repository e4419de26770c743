//! `WorktreeRequest`: which worktree a session is to work in, and for whom.

use std::path::PathBuf;

use super::name::WorktreeName;
use crate::git::program::GitEnvironment;

/// Which worktree a session is to work in, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeRequest {
    pub environment: GitEnvironment,
    pub from: PathBuf,
    pub name: WorktreeName,
    /// Where in the worktree; where `from` is in its own working tree unless it is said.
    pub within: Option<PathBuf>,
    /// Where the user is: a worktree that the user is in is not removed.
    pub user_folder: PathBuf,
}
