//! Which files a repository has: ignore files obeyed, hidden files left out, links not followed, nothing outside read.
//!
//! The rules of ignore files are those of the `ignore` crate. Its own walk is not used, because it opens whatever bears the
//! name of an ignore file (a pipe, a link to elsewhere, a gigabyte) and looks above the root.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tokio_util::sync::CancellationToken;

use super::language;
use super::limits::RepoMapLimits;
use crate::files::DirectoryHandle;

/// How large an ignore file may be; of a larger one the beginning holds.
const IGNORE_BYTES_MAX: u64 = 64 * 1024;

/// How deep folders may be nested.
const DEPTH_MAX: usize = 64;

/// The ignore files of each folder; the last has the last word.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// A path that nobody wants in the map.
pub(super) type LeftOut = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Walked {
    /// The files, from the root, in the order of their paths.
    pub(super) files: Vec<String>,
    /// How many files of a known language were left out because of their names.
    pub(super) passed_over: usize,
    /// Whether there was more than the limits allow.
    pub(super) is_cut: bool,
}

/// A folder that is still to be looked at: its path from the root, and the rules that hold in it.
struct Pending {
    relative: PathBuf,
    depth: usize,
    rules: Option<Arc<Rules>>,
}

/// The rules of a folder, and those above it.
struct Rules {
    own: Gitignore,
    above: Option<Arc<Rules>>,
}

/// Walks from `root` on, which is open as `folder`.
pub(super) fn walk(
    root: &Path,
    folder: &DirectoryHandle,
    limits: &RepoMapLimits,
    left_out: Option<&LeftOut>,
    cancel: &CancellationToken,
) -> Walked {
    let mut walked = Walked::default();
    let mut entries_left = limits.entries_max;
    let mut pending = vec![Pending { relative: PathBuf::new(), depth: 0, rules: None }];
    while let Some(place) = pending.pop() {
        if cancel.is_cancelled() {
            break;
        }
        let rules = rules_of(&place, folder);
        for (name, is_folder) in listed(&root.join(&place.relative), &mut entries_left, &mut walked.is_cut) {
            let relative = place.relative.join(&name);
            if is_ignored(rules.as_deref(), &relative, is_folder)
                || left_out.is_some_and(|rule| rule(&root.join(&relative)))
            {
                continue;
            }
            if is_folder {
                let depth = place.depth + 1;
                walked.is_cut |= depth > DEPTH_MAX;
                if depth <= DEPTH_MAX {
                    pending.push(Pending { relative, depth, rules: rules.clone() });
                }
            } else {
                walked.add(&relative, limits.files_max);
            }
        }
    }
    walked.files.sort_unstable();
    walked
}

impl Walked {
    fn add(&mut self, relative: &Path, files_max: usize) {
        let name = relative.file_name().unwrap_or_default().to_string_lossy();
        if language::of(&name).is_none() {
            return;
        }
        let path = relative.to_str().filter(|path| !path.chars().any(char::is_control));
        match path {
            None => self.passed_over += 1,
            Some(_) if self.files.len() >= files_max => self.is_cut = true,
            Some(path) if cfg!(windows) => self.files.push(path.replace('\\', "/")),
            Some(path) => self.files.push(path.to_owned()),
        }
    }
}

/// What a folder holds, folders last and in the reverse order, so that the first of them is taken first; no links, no hidden
/// names, nothing else that is neither a file nor a folder.
fn listed(path: &Path, entries_left: &mut usize, is_cut: &mut bool) -> Vec<(PathBuf, bool)> {
    let Ok(listing) = std::fs::read_dir(path) else { return Vec::new() };
    let mut found = Vec::new();
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
            found.push((name, kind.is_dir()));
        }
    }
    found.sort_unstable_by(|(one, _), (two, _)| two.cmp(one));
    // Files in the order of their names, so that it does not depend on the disk which are within the limits.
    let (mut files, folders): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, is_folder)| !is_folder);
    files.reverse();
    files.extend(folders);
    files
}

/// The rules in a folder: its own, if it has any, before those above.
fn rules_of(place: &Pending, folder: &DirectoryHandle) -> Option<Arc<Rules>> {
    let mut builder = GitignoreBuilder::new(&place.relative);
    let mut has_own = false;
    for name in IGNORE_FILES {
        let Some(text) = ignore_text(folder, &place.relative.join(name)) else { continue };
        has_own = true;
        for line in text.lines() {
            // A line that is no pattern is passed over, as git does.
            drop(builder.add_line(None, line));
        }
    }
    match builder.build() {
        Ok(own) if has_own => Some(Arc::new(Rules { own, above: place.rules.clone() })),
        Ok(_) | Err(_) => place.rules.clone(),
    }
}

fn ignore_text(folder: &DirectoryHandle, relative: &Path) -> Option<String> {
    let file = folder.file(relative).ok()?;
    let mut bytes = Vec::new();
    file.take(IGNORE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_ignored(mut rules: Option<&Rules>, relative: &Path, is_folder: bool) -> bool {
    while let Some(here) = rules {
        match here.own.matched(relative, is_folder) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => rules = here.above.as_deref(),
        }
    }
    false
}
