//! `Ended`: what became of a worktree at the end of a session.

use std::fmt;
use std::path::{Path, PathBuf};

use super::judge::Standing;

/// What became of a worktree at the end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Nothing was changed in it, so it is gone with its branch.
    Removed,
    /// It is still there.
    Stays(Stays),
}

/// A worktree that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stays {
    pub(super) path: PathBuf,
    /// Its own branch.
    pub(super) own: String,
    pub(super) why: Why,
}

/// Why it is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// It has something.
    Has(Standing),
    /// Nothing was changed, but another session works in it.
    InUse,
    /// Nothing was changed, but the user is in it.
    UserIsThere,
    /// It is not known what it has, or it could not be removed.
    Unknown(String),
}

impl fmt::Display for Stays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, own, why } = self;
        write!(f, "the worktree {} stays: ", path.display())?;
        let path = quoted(path);
        let remove = format!("to remove it: git worktree remove --force {path} && git branch -D {own}");
        match why {
            Why::Has(standing) => {
                write!(f, "{}; ", found(standing))?;
                match (&standing.branch, standing.changed) {
                    (Some(branch), 0) => write!(f, "to merge: git merge {}; ", quoted(Path::new(branch)))?,
                    (Some(branch), _) => {
                        let branch = quoted(Path::new(branch));
                        // The repository is closed to the agent's commands, so nobody else does it.
                        write!(f, "to merge: commit there yourself, then git merge {branch}; ")?;
                    }
                    (None, _) => write!(f, "to keep commits: git -C {path} switch -c NAME; ")?,
                }
                f.write_str(&remove)
            }
            Why::InUse => write!(f, "another session works in it (branch {own})"),
            Why::UserIsThere => {
                write!(
                    f,
                    "nothing was changed, but you are in it (branch {own}); once you are elsewhere, {remove}"
                )
            }
            Why::Unknown(problem) => write!(f, "{problem} (branch {own}); {remove}"),
        }
    }
}

/// What a worktree has.
fn found(standing: &Standing) -> String {
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        many_of => Some(format!("{many_of} {many}")),
    };
    let branch = match &standing.branch {
        Some(branch) => format!("branch {branch}"),
        None => "no branch, a commit is checked out".to_owned(),
    };
    let parts = [
        Some(branch),
        counted(standing.commits, "commit", "commits"),
        counted(standing.changed, "change not committed", "changes not committed"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `path` as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/-_.,+@:".contains(character);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
#[path = "ended_tests.rs"]
mod tests;
