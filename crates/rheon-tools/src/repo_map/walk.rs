//! Finds the files of a repository: respects ignore files, skips hidden files, follows no links, and reads nothing
//! outside.
//!
//! The `ignore` crate matches the patterns. Its own walker is not used, because it opens anything named like an ignore
//! file (a pipe, a link, a gigabyte) and reads above the root.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tokio_util::sync::CancellationToken;

use super::language;
use super::limits::RepoMapLimits;
use crate::files::DirectoryHandle;

/// The most bytes read of an ignore file.
const IGNORE_BYTES_MAX: u64 = 64 * 1024;

/// How deep directories may nest.
const DEPTH_MAX: usize = 64;

/// The ignore files of each directory. The last one wins.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Whether to leave a path out of the map.
pub(super) type ExcludeRule = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The outcome of a walk.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WalkResult {
    /// Paths relative to the root, sorted.
    pub(super) files: Vec<String>,
    /// Files of a known language whose names cannot be shown.
    pub(super) skipped: usize,
    /// Whether the limits left something out.
    pub(super) is_cut: bool,
}

/// A directory to visit: its path relative to the root, and the ignore rules that apply.
struct PendingDir {
    relative: PathBuf,
    depth: usize,
    rules: Option<Arc<Rules>>,
}

/// The ignore rules of a directory, and those above it.
struct Rules {
    own: Gitignore,
    parent: Option<Arc<Rules>>,
}

/// Walks `root`, which is open as `root_dir`.
pub(super) fn walk(
    root: &Path,
    root_dir: &DirectoryHandle,
    limits: &RepoMapLimits,
    exclude: Option<&ExcludeRule>,
    cancel: &CancellationToken,
) -> WalkResult {
    let mut result = WalkResult::default();
    let mut entries_left = limits.entries_max;
    let mut pending = vec![PendingDir { relative: PathBuf::new(), depth: 0, rules: None }];
    while let Some(dir) = pending.pop() {
        if cancel.is_cancelled() {
            break;
        }
        let rules = rules_of(&dir, root_dir);
        for (name, is_dir) in list_dir(&root.join(&dir.relative), &mut entries_left, &mut result.is_cut) {
            let relative = dir.relative.join(&name);
            if is_ignored(rules.as_deref(), &relative, is_dir)
                || exclude.is_some_and(|rule| rule(&root.join(&relative)))
            {
                continue;
            }
            if is_dir {
                let depth = dir.depth + 1;
                result.is_cut |= depth > DEPTH_MAX;
                if depth <= DEPTH_MAX {
                    pending.push(PendingDir { relative, depth, rules: rules.clone() });
                }
            } else {
                result.add(&relative, limits.files_max);
            }
        }
    }
    result.files.sort_unstable();
    result
}

impl WalkResult {
    fn add(&mut self, relative: &Path, files_max: usize) {
        let name = relative.file_name().unwrap_or_default().to_string_lossy();
        if language::of(&name).is_none() {
            return;
        }
        let path = relative.to_str().filter(|path| !path.chars().any(char::is_control));
        match path {
            None => self.skipped += 1,
            Some(_) if self.files.len() >= files_max => self.is_cut = true,
            Some(path) if cfg!(windows) => self.files.push(path.replace('\\', "/")),
            Some(path) => self.files.push(path.to_owned()),
        }
    }
}

/// The entries of a directory: files first, then directories in reverse order, so that the first directory is popped
/// first. No links, hidden names or special files.
fn list_dir(path: &Path, entries_left: &mut usize, is_cut: &mut bool) -> Vec<(PathBuf, bool)> {
    let Ok(listing) = std::fs::read_dir(path) else { return Vec::new() };
    let mut entries = Vec::new();
    for entry in listing.flatten() {
        let Some(left) = entries_left.checked_sub(1) else {
            *is_cut = true;
            break;
        };
        *entries_left = left;
        let name = PathBuf::from(entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        let is_hidden = name.as_os_str().as_encoded_bytes().starts_with(b".");
        if (kind.is_file() || kind.is_dir()) && !is_hidden {
            entries.push((name, kind.is_dir()));
        }
    }
    entries.sort_unstable_by(|(one, _), (two, _)| two.cmp(one));
    // Sort files, so that the limits select the same ones on every disk.
    let (mut files, dirs): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(_, is_dir)| !is_dir);
    files.reverse();
    files.extend(dirs);
    files
}

/// The ignore rules of a directory: its own before those above.
fn rules_of(dir: &PendingDir, root_dir: &DirectoryHandle) -> Option<Arc<Rules>> {
    let mut builder = GitignoreBuilder::new(&dir.relative);
    let mut has_own = false;
    for name in IGNORE_FILES {
        let Some(text) = ignore_text(root_dir, &dir.relative.join(name)) else { continue };
        has_own = true;
        for line in text.lines() {
            // Invalid patterns are ignored, as git does.
            drop(builder.add_line(None, line));
        }
    }
    match builder.build() {
        Ok(own) if has_own => Some(Arc::new(Rules { own, parent: dir.rules.clone() })),
        Ok(_) | Err(_) => dir.rules.clone(),
    }
}

fn ignore_text(root_dir: &DirectoryHandle, relative: &Path) -> Option<String> {
    let file = root_dir.file(relative).ok()?;
    let mut bytes = Vec::new();
    file.take(IGNORE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_ignored(mut rules: Option<&Rules>, relative: &Path, is_dir: bool) -> bool {
    while let Some(here) = rules {
        match here.own.matched(relative, is_dir) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => rules = here.parent.as_deref(),
        }
    }
    false
}
