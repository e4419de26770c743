//! Git: the state of a repository, and worktrees for parallel sessions.
//!
//! The real `git` is run with a clean environment, so that a repository cannot make it run programs, ask or wait.

mod head;
mod program;
mod state;
mod worktree;

pub use head::{Head, read_head};
pub use program::GitEnvironment;
pub use state::{GIT_TIME_MAX, GitChanges, GitQuestion, GitState};
pub use worktree::{
    NAME_CHARS_MAX, RemainingWorktree, Worktree, WorktreeError, WorktreeLocation, WorktreeName,
    WorktreeNameError, WorktreeOutcome, WorktreeRequest, sibling_directories, worktree_directories,
};
