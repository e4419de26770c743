//! `WorktreeOutcome`: whether a worktree was removed at the end of a session.

use std::fmt;
use std::path::{Path, PathBuf};

use super::decide::WorktreeStatus;

/// Whether a worktree was removed at the end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeOutcome {
    /// It had no changes, so it was removed together with its branch.
    Removed,
    Kept(RemainingWorktree),
}

/// A worktree that was not removed. As text: why, and how to merge or remove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemainingWorktree {
    pub(super) path: PathBuf,
    /// The branch that was created with it.
    pub(super) own: String,
    pub(super) why: KeepReason,
}

/// Why a worktree was not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeepReason {
    /// It has changes or commits.
    Changed(WorktreeStatus),
    /// Another session is using it.
    InUse,
    /// It has no changes, but it is the user's current directory.
    CurrentDirectory,
    /// Its state could not be read, or it could not be removed.
    Failed(String),
}

impl fmt::Display for RemainingWorktree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, own, why } = self;
        write!(f, "kept the worktree {}: ", path.display())?;
        let path = quoted(path);
        let remove = format!("to remove it: git worktree remove --force {path} && git branch -D {own}");
        match why {
            KeepReason::Changed(status) => {
                write!(f, "{}; ", describe(status))?;
                match (&status.branch, status.changed) {
                    (Some(branch), 0) => write!(f, "to merge: git merge {}; ", quoted(Path::new(branch)))?,
                    (Some(branch), _) => {
                        let branch = quoted(Path::new(branch));
                        // The agent's commands cannot write to the repository, so the user has to commit.
                        write!(f, "to merge: commit there yourself, then git merge {branch}; ")?;
                    }
                    (None, _) => write!(f, "to keep commits: git -C {path} switch -c NAME; ")?,
                }
                f.write_str(&remove)
            }
            KeepReason::InUse => write!(f, "another session is using it (branch {own})"),
            KeepReason::CurrentDirectory => {
                write!(
                    f,
                    "nothing was changed, but it is your current directory (branch {own}); after leaving it, {remove}"
                )
            }
            KeepReason::Failed(problem) => write!(f, "{problem} (branch {own}); {remove}"),
        }
    }
}

/// For example `branch x, 2 commits, 1 uncommitted change`.
fn describe(status: &WorktreeStatus) -> String {
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        many_of => Some(format!("{many_of} {many}")),
    };
    let branch = match &status.branch {
        Some(branch) => format!("branch {branch}"),
        None => "detached HEAD".to_owned(),
    };
    let parts = [
        Some(branch),
        counted(status.commits, "commit", "commits"),
        counted(status.changed, "uncommitted change", "uncommitted changes"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `path` quoted for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/-_.,+@:".contains(character);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
