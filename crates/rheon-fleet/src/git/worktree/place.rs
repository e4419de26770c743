//! `WorktreeLocation`: the worktree that a path is in.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::name::WorktreeName;
use crate::git::head::beginning;

/// The directory of worktrees, in that of the repository.
pub(super) const DIR: &str = ".rheon/worktrees";

/// The location of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeLocation {
    pub root: PathBuf,
    pub name: WorktreeName,
    pub within: PathBuf,
}

impl WorktreeLocation {
    /// The worktree that `path` is in, the innermost one.
    pub fn of(path: &Path) -> Option<Self> {
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

/// The directory of a worktree, from that of the repository.
pub(super) fn relative(name: &WorktreeName) -> String {
    format!("{DIR}/{name}")
}

/// The most worktrees that are listed.
const DIRS_MAX: usize = 256;

/// `dir` itself, and the same directory in every worktree of its repository; nothing if there are no worktrees.
pub fn worktree_directories(dir: &Path) -> Option<Vec<PathBuf>> {
    let root = dir.ancestors().find(|above| above.join(".git").exists())?;
    let within = dir.strip_prefix(root).ok()?;
    let entries = fs::read_dir(root.join(DIR)).ok()?.flatten().take(DIRS_MAX);
    let there = entries.map(|entry| match within.as_os_str().is_empty() {
        true => entry.path(),
        false => entry.path().join(within),
    });
    Some(std::iter::once(dir.to_owned()).chain(there).collect())
}

/// The same directory in every other working tree of the repository around `dir`: those of `git worktree` and the main
/// one. Read from files: no program is started.
pub fn sibling_directories(dir: &Path) -> Vec<PathBuf> {
    let Some(root) = dir.ancestors().find(|above| above.join(".git").exists()) else { return Vec::new() };
    let (Ok(within), Some(common)) = (dir.strip_prefix(root), common_directory(root)) else {
        return Vec::new();
    };
    let main = common.file_name().filter(|name| *name == ".git").and(common.parent()).map(Path::to_owned);
    let entries = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().take(DIRS_MAX);
    let linked = entries.filter_map(|entry| {
        let git = PathBuf::from(beginning(&entry.path().join("gitdir"))?.trim());
        Some(git.parent()?.to_owned())
    });
    let own = root.canonicalize().ok();
    let others = main.into_iter().chain(linked).filter_map(|root| root.canonicalize().ok());
    let others = others.filter(|root| Some(root) != own.as_ref());
    others.map(|root| if within.as_os_str().is_empty() { root } else { root.join(within) }).collect()
}

/// The directory that all working trees of the repository at `root` share.
fn common_directory(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    let elsewhere = beginning(&git)?;
    let own = root.join(elsewhere.strip_prefix("gitdir:")?.trim());
    let common = beginning(&own.join("commondir"))?;
    own.join(common.trim()).canonicalize().ok()
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
