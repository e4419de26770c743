//! `Place`: where a worktree of ours is, told from a path alone.

use std::path::{Component, Path, PathBuf};

use super::name::WorktreeName;

/// The folder of worktrees, in that of the repository.
pub(super) const FOLDER: &str = ".rheon/worktrees";

/// Where a worktree of ours is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder of the repository.
    pub(super) root: PathBuf,
    /// The worktree.
    pub(super) name: WorktreeName,
    /// Where in it.
    pub(super) within: PathBuf,
}

impl Place {
    /// The worktree that `path` is in, the innermost one.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let parts: Vec<Component<'_>> = path.components().collect();
        let is_ours = |window: &[Component<'_>]| match window {
            [a, b, _] => a.as_os_str() == ".rheon" && b.as_os_str() == "worktrees",
            _ => false,
        };
        let at = parts.windows(3).rposition(is_ours)?;
        let (root, rest) = parts.split_at_checked(at)?;
        let (ours, within) = rest.split_at_checked(3)?;
        let name = WorktreeName::parse(ours.last()?.as_os_str().to_str()?).ok()?;
        Some(Self { root: root.iter().collect(), name, within: within.iter().collect() })
    }
}

/// The folder of a worktree, from that of the repository.
pub(super) fn relative(name: &WorktreeName) -> String {
    format!("{FOLDER}/{name}")
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
