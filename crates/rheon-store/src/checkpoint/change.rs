//! `PathChange`: the differences between two checkpoints. Pure.

use std::path::PathBuf;
use std::time::Duration;

use similar::TextDiff;

use super::id::CheckpointId;
use super::manifest::{Entry, Manifest};

/// What a checkpoint is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffTarget {
    Checkpoint(CheckpointId),
    /// The current files.
    WorkingTree,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChange {
    /// Relative to the workspace.
    pub path: PathBuf,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Removed,
    /// The content, or the target of a link, changed.
    Modified,
    /// Only the permissions changed.
    Mode,
    /// It changed between file, link and directory.
    Kind,
    /// It changed, but its content is not saved.
    Skipped,
}

/// The difference between two versions of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextChange {
    /// A unified diff; empty if the lines are equal.
    Lines(String),
    /// At least one version is not text.
    Binary,
    /// At least one version is too large or not saved.
    NotCompared,
}

/// Larger files are not compared line by line.
pub(super) const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// After this time the diff becomes approximate.
const EFFORT_MAX: Duration = Duration::from_secs(1);

/// The differences by path.
pub(super) fn changes(from: &Manifest, to: &Manifest) -> Vec<PathChange> {
    let old = from.entries.iter().filter_map(|(path, entry)| {
        let kind = match to.entries.get(path) {
            None => ChangeKind::Removed,
            Some(now) if entry.has_same_content(now) => return None,
            Some(now) => kind(entry, now),
        };
        Some(PathChange { path: path.clone(), kind })
    });
    let new = to.entries.keys().filter(|path| !from.entries.contains_key(*path));
    let mut changes: Vec<_> =
        old.chain(new.map(|path| PathChange { path: path.clone(), kind: ChangeKind::Added })).collect();
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

pub(super) fn kind(from: &Entry, to: &Entry) -> ChangeKind {
    match (from, to) {
        (Entry::Skipped { .. }, _) | (_, Entry::Skipped { .. }) => ChangeKind::Skipped,
        (Entry::File { blob, .. }, Entry::File { blob: now, .. }) if blob == now => ChangeKind::Mode,
        (Entry::File { .. }, Entry::File { .. }) | (Entry::Link { .. }, Entry::Link { .. }) => {
            ChangeKind::Modified
        }
        (Entry::Directory { .. }, Entry::Directory { .. }) => ChangeKind::Mode,
        (Entry::File { .. } | Entry::Link { .. } | Entry::Directory { .. }, _) => ChangeKind::Kind,
    }
}

/// Compares two contents. `None` means that the file does not exist.
pub(super) fn text_change(path: &str, from: Option<&[u8]>, to: Option<&[u8]>) -> TextChange {
    let (before, after) = (from.unwrap_or_default(), to.unwrap_or_default());
    if before.len().max(after.len()) > TEXT_BYTES_MAX {
        return TextChange::NotCompared;
    }
    let (Ok(before), Ok(after)) = (std::str::from_utf8(before), std::str::from_utf8(after)) else {
        return TextChange::Binary;
    };
    if before.contains('\0') || after.contains('\0') {
        return TextChange::Binary;
    }
    let name = |side: &str, content: Option<&[u8]>| match content {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::configure().timeout(EFFORT_MAX).diff_lines(before, after);
    TextChange::Lines(diff.unified_diff().header(&name("a", from), &name("b", to)).to_string())
}
