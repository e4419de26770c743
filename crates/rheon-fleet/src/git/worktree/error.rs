//! `WorktreeError`: why a session has no worktree.

use std::io;
use std::path::PathBuf;

use super::name::WorktreeNameError;

/// Why a session has no worktree. No model was called yet.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error(transparent)]
    Name(#[from] WorktreeNameError),
    #[error("cannot create a worktree: git is not installed; install it or omit -w")]
    NoGit,
    #[error(
        "{} is not in a git repository; change to one, run `git init`, or omit -w",
        .0.display()
    )]
    NoRepository(PathBuf),
    #[error("{} is a bare repository; change to a directory where it is checked out", .0.display())]
    Bare(PathBuf),
    #[error("the repository {} has no commits; commit something first", .0.display())]
    NoCommit(PathBuf),
    /// The branch is there, and the worktree is not.
    #[error(
        "the branch {branch} exists, but no worktree for it; choose another name, or check its commits \
         (`git log {branch}`) and remove it: git worktree prune && git branch -D {branch}"
    )]
    BranchTaken { branch: String },
    #[error(
        "{} exists and is not a worktree of this repository; choose another name or move it",
        .0.display()
    )]
    NotOurs(PathBuf),
    #[error("{} is a symlink; remove it", .0.display())]
    LeadsElsewhere(PathBuf),
    #[error("cannot create a worktree for this session: {0}")]
    Git(String),
    #[error("cannot create a worktree for this session: cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

impl WorktreeError {
    /// Whether another name, directory or flag helps; otherwise git or the disk is at fault.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Name(_)
            | Self::NoGit
            | Self::NoRepository(_)
            | Self::Bare(_)
            | Self::NoCommit(_)
            | Self::BranchTaken { .. }
            | Self::NotOurs(_)
            | Self::LeadsElsewhere(_) => true,
            Self::Git(_) | Self::Io { .. } => false,
        }
    }
}
