//! What is to be done, from what was found: whether a worktree is made, and whether it goes.

/// What is where the worktree belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folder {
    /// Nothing.
    Free,
    /// A worktree of this repository.
    Ours,
    /// Something else.
    Foreign,
}

/// Whether there is its branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Branch {
    Free,
    Taken,
}

/// How the worktree comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// It is made.
    Make,
    /// It is gone on with, whatever branch it is on by now.
    GoOn,
    /// Its branch has no worktree, and nobody knows what it has.
    BranchTaken,
    /// Its place is taken.
    NotOurs,
}

/// How the worktree comes about.
pub(super) fn beginning(folder: Folder, branch: Branch) -> Beginning {
    match (folder, branch) {
        (Folder::Free, Branch::Free) => Beginning::Make,
        (Folder::Free, Branch::Taken) => Beginning::BranchTaken,
        (Folder::Ours, Branch::Free | Branch::Taken) => Beginning::GoOn,
        (Folder::Foreign, Branch::Free | Branch::Taken) => Beginning::NotOurs,
    }
}

/// How a worktree stands when its session ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    /// What is checked out: a branch, or none.
    pub(super) branch: Option<String>,
    /// How many files differ from what is committed, those that git does not know included.
    pub(super) changed: usize,
    /// How many commits no other branch or tag has.
    pub(super) commits: usize,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing is lost with it.
    Goes,
    /// It has something.
    Stays,
}

/// What becomes of a worktree whose own branch is `own`. On another branch, or on none, somebody has plans for it.
pub(super) fn fate(standing: &Standing, own: &str) -> Fate {
    let Standing { branch, changed, commits } = standing;
    match branch.as_deref() == Some(own) && *changed == 0 && *commits == 0 {
        true => Fate::Goes,
        false => Fate::Stays,
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
