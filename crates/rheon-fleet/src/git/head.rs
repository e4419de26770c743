//! What a repository has checked out, read from its files: no program is started, and nothing that it configures counts.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// How much of a file is read: names of branches are short.
const BYTES_MAX: u64 = 4096;

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    Branch(String),
    Commit,
}

/// The HEAD of the repository around `dir`; none without a repository, or if its format is unusual.
pub fn read_head(dir: &Path) -> Option<Head> {
    let git = dir.ancestors().map(|above| above.join(".git")).find(|git| git.exists())?;
    let git = if git.is_dir() {
        git
    } else {
        // A second working tree, or a submodule.
        let elsewhere = beginning(&git)?;
        git.parent()?.join(elsewhere.strip_prefix("gitdir:")?.trim())
    };
    let head = beginning(&git.join("HEAD"))?;
    let head = head.trim();
    match head.strip_prefix("ref: refs/heads/") {
        // Repositories that keep their references elsewhere write this for the sake of others.
        Some(".invalid") => None,
        Some(branch) => Some(Head::Branch(branch.to_owned())),
        None => {
            let is_commit =
                matches!(head.len(), 40 | 64) && head.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_commit.then_some(Head::Commit)
        }
    }
}

/// The beginning of a file, enough for a name or a path.
pub(super) fn beginning(path: &Path) -> Option<String> {
    // Opening a pipe would block until another process writes to it.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
#[path = "head_tests.rs"]
mod tests;
