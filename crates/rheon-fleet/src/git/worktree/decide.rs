//! Decides whether a worktree is created and whether it is removed. Pure.

/// What exists at the path of the worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directory {
    Free,
    Ours,
    Foreign,
}

/// Whether the branch of the worktree exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Branch {
    Free,
    Taken,
}

/// How a session gets its worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorktreeAction {
    Create,
    /// Whichever branch it is on by now.
    Reuse,
    /// Fail: the branch exists without a worktree, and its content is unknown.
    BranchTaken,
    /// Fail: something else is at its path.
    NotOurs,
}

pub(super) fn action(dir: Directory, branch: Branch) -> WorktreeAction {
    match (dir, branch) {
        (Directory::Free, Branch::Free) => WorktreeAction::Create,
        (Directory::Free, Branch::Taken) => WorktreeAction::BranchTaken,
        (Directory::Ours, Branch::Free | Branch::Taken) => WorktreeAction::Reuse,
        (Directory::Foreign, Branch::Free | Branch::Taken) => WorktreeAction::NotOurs,
    }
}

/// The state of a worktree when its session ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorktreeStatus {
    /// The branch that is checked out; none for a detached HEAD.
    pub(super) branch: Option<String>,
    /// Number of files with uncommitted changes, untracked files included.
    pub(super) changed: usize,
    /// Number of commits that no other branch or tag has.
    pub(super) commits: usize,
}

/// What to do with a worktree when its session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cleanup {
    /// Nothing is lost with it.
    Remove,
    Keep,
}

/// What to do with a worktree whose own branch is `own`. One that is on another branch, or on none, is kept: the user is working with it.
pub(super) fn cleanup(status: &WorktreeStatus, own: &str) -> Cleanup {
    let WorktreeStatus { branch, changed, commits } = status;
    match branch.as_deref() == Some(own) && *changed == 0 && *commits == 0 {
        true => Cleanup::Remove,
        false => Cleanup::Keep,
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
