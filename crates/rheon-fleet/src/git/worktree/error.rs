//! `WorktreeError`: why there is no worktree for a session.

use std::io;
use std::path::PathBuf;

use super::name::NameError;

/// Why there is no worktree for a session. Nothing was asked of a model yet.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// It cannot be called so.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no git.
    #[error("git is not installed, which worktrees are made with; install it, or leave out -w")]
    NoGit,
    /// There is no repository.
    #[error(
        "{} is in no git repository, so it has no worktrees; go to one, make one with `git init`, or leave out -w",
        .0.display()
    )]
    NoRepository(PathBuf),
    /// The repository has no files.
    #[error("{} is a bare repository, or inside of one; go to a folder where it is checked out", .0.display())]
    Bare(PathBuf),
    /// The repository has no history.
    #[error("the repository {} has no commit yet for a worktree to begin from; commit something first", .0.display())]
    NoCommit(PathBuf),
    /// The branch is there, and the worktree is not.
    #[error(
        "there is a branch {branch} already, but no worktree with it; choose another name, or look what it has \
         (`git log {branch}`) and remove it: git worktree prune && git branch -D {branch}"
    )]
    BranchTaken {
        /// The branch.
        branch: String,
    },
    /// Something else is in its place.
    #[error(
        "{} is there already and is no worktree of this repository; choose another name, or move it away",
        .0.display()
    )]
    NotOurs(PathBuf),
    /// The folder of worktrees is a link.
    #[error("{} is a link, and no worktree is made where it leads; remove it", .0.display())]
    LeadsElsewhere(PathBuf),
    /// git did not do it.
    #[error("there is no worktree for this session: {0}")]
    Git(String),
    /// The disk did not do it.
    #[error("there is no worktree for this session: cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

impl WorktreeError {
    /// Whether another name, folder or flag helps; otherwise git or the disk is at fault.
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
