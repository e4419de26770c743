//! `RestorePlan`: decides what a restore does. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::change::{ChangeKind, PathChange, kind};
use super::id::CheckpointId;
use super::manifest::{Entry, Manifest};

/// What to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreSelection {
    All,
    /// These files and the contents of these directories, relative to the workspace.
    Paths(Vec<PathBuf>),
}

/// What a restore would do.
#[derive(Debug, Clone)]
pub struct RestorePlan {
    pub(super) checkpoint: CheckpointId,
    pub(super) selection: RestoreSelection,
    pub(super) tasks: Vec<Task>,
    pub(super) skipped: Vec<SkippedChange>,
    pub(super) overwritten: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreStep {
    /// Give a file or link its old content and mode.
    Write(PathBuf),
    /// Remove a file or link that did not exist.
    Remove(PathBuf),
    /// Create a directory, or give it its old mode.
    Directory(PathBuf),
    /// Remove a directory that did not exist, if it is empty.
    RemoveDir(PathBuf),
}

/// A difference from the checkpoint that a restore leaves alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedChange {
    pub path: PathBuf,
    pub reason: String,
}

/// What a path holds now and what it should hold; `None` means that it does not exist.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) path: PathBuf,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

impl RestorePlan {
    pub fn checkpoint(&self) -> &CheckpointId {
        &self.checkpoint
    }

    /// The steps by path.
    pub fn steps(&self) -> Vec<RestoreStep> {
        let step = |task: &Task| match (&task.before, &task.after) {
            (_, Some(Entry::Directory { .. })) => RestoreStep::Directory(task.path.clone()),
            (_, Some(Entry::File { .. } | Entry::Link { .. } | Entry::Skipped { .. })) => {
                RestoreStep::Write(task.path.clone())
            }
            (Some(Entry::Directory { .. }), None) => RestoreStep::RemoveDir(task.path.clone()),
            (Some(Entry::File { .. } | Entry::Link { .. } | Entry::Skipped { .. }) | None, None) => {
                RestoreStep::Remove(task.path.clone())
            }
        };
        self.tasks.iter().map(step).collect()
    }

    /// The effect on files, links and directories, compared with now.
    pub fn changes(&self) -> impl Iterator<Item = PathChange> + '_ {
        self.tasks.iter().map(|task| {
            let kind = match (&task.before, &task.after) {
                (None, _) => ChangeKind::Added,
                (Some(_), None) => ChangeKind::Removed,
                (Some(before), Some(after)) => kind(before, after),
            };
            PathChange { path: task.path.clone(), kind }
        })
    }

    /// The differences that the restore leaves alone.
    pub fn skipped(&self) -> &[SkippedChange] {
        &self.skipped
    }

    /// The files and links that would be overwritten or removed.
    pub fn overwritten(&self) -> &[PathBuf] {
        &self.overwritten
    }

    /// The paths for which another plan for the same checkpoint has a different task.
    pub(super) fn differences(&self, other: &Self) -> Vec<PathBuf> {
        let by_path = |tasks: &[Task]| -> BTreeMap<PathBuf, Task> {
            tasks.iter().map(|task| (task.path.clone(), task.clone())).collect()
        };
        let (ours, theirs) = (by_path(&self.tasks), by_path(&other.tasks));
        let is_in = |tasks: &BTreeMap<PathBuf, Task>, task: &Task| {
            tasks.get(&task.path).is_some_and(|found| has_same_content(task, found))
        };
        let outdated = self.tasks.iter().filter(|task| !is_in(&theirs, task));
        let new = other.tasks.iter().filter(|task| !is_in(&ours, task));
        let paths: BTreeSet<_> = outdated.chain(new).map(|task| task.path.clone()).collect();
        paths.into_iter().collect()
    }
}

fn has_same_content(one: &Task, other: &Task) -> bool {
    let is_same = |a: &Option<Entry>, b: &Option<Entry>| match (a, b) {
        (Some(a), Some(b)) => a.has_same_content(b),
        (a, b) => a.is_none() && b.is_none(),
    };
    is_same(&one.before, &other.before) && is_same(&one.after, &other.after)
}

/// The input of a plan.
pub(super) struct Sides<'a> {
    /// The checkpoint.
    pub(super) then: &'a Manifest,
    /// The current files.
    pub(super) now: &'a Manifest,
    /// Whether a path that the checkpoint does not list is older than the checkpoint.
    pub(super) is_older: &'a dyn Fn(&Path, &Entry) -> bool,
}

pub(super) fn plan(checkpoint: CheckpointId, selection: RestoreSelection, sides: &Sides<'_>) -> RestorePlan {
    let mut plan = RestorePlan {
        checkpoint,
        selection,
        tasks: Vec::new(),
        skipped: Vec::new(),
        overwritten: Vec::new(),
    };
    let paths: BTreeSet<_> = sides.then.entries.keys().chain(sides.now.entries.keys()).collect();
    for path in paths {
        let (before, after) = (sides.now.entries.get(path), sides.then.entries.get(path));
        let is_same = match (before, after) {
            (Some(before), Some(after)) => before.has_same_content(after),
            (before, after) => before.is_none() && after.is_none(),
        };
        if is_same || !covers(&plan.selection, path, after) {
            continue;
        }
        if let Some(reason) = skip_reason(sides, path, before, after) {
            plan.skipped.push(SkippedChange { path: path.clone(), reason });
            continue;
        }
        match before {
            Some(Entry::File { .. } | Entry::Link { .. } | Entry::Skipped { .. }) => {
                plan.overwritten.push(path.clone());
            }
            Some(Entry::Directory { .. }) | None => {}
        }
        plan.tasks.push(Task { path: path.clone(), before: before.cloned(), after: after.cloned() });
    }
    plan
}

/// Restoring a file needs the directories above it.
fn covers(selection: &RestoreSelection, path: &Path, after: Option<&Entry>) -> bool {
    match selection {
        RestoreSelection::All => true,
        RestoreSelection::Paths(paths) => paths.iter().any(|selected| {
            path.starts_with(selected)
                || (matches!(after, Some(Entry::Directory { .. })) && selected.starts_with(path))
        }),
    }
}

fn skip_reason(
    sides: &Sides<'_>,
    path: &Path,
    before: Option<&Entry>,
    after: Option<&Entry>,
) -> Option<String> {
    if let Some(Entry::Skipped { why, .. }) = after {
        return Some(format!("its content is not in the checkpoint: {why}"));
    }
    if let Some(Entry::Skipped { why, .. }) = before {
        return Some(format!("its current content cannot be saved: {why}"));
    }
    let is_hidden = |dir: &Path| matches!(sides.then.entries.get(dir), Some(Entry::Skipped { .. }));
    if path.ancestors().skip(1).any(is_hidden) {
        return Some("its directory was unreadable when the checkpoint was made".into());
    }
    let blocks = |dir: &Path| matches!(sides.now.entries.get(dir), Some(Entry::Skipped { .. }));
    if path.ancestors().skip(1).any(blocks) {
        return Some("the file in place of its directory cannot be saved".into());
    }
    match (before, after) {
        (Some(entry @ (Entry::File { .. } | Entry::Link { .. })), None) if (sides.is_older)(path, entry) => {
            Some("it is older than the checkpoint: it was ignored then, or was moved here".into())
        }
        _ => None,
    }
}
