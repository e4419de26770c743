//! Executes a restore plan. Every file is replaced atomically, and files that changed since they were scanned are
//! left alone.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::catalog::Catalog;
use super::id::CheckpointId;
use super::manifest::Entry;
use super::path::draft_name;
use super::plan::{SkippedChange, Task};
use super::probe::Io;
use super::scan::{ScanContext, is_untouched, visible};
use super::workspace_dir::{Target, WorkspaceDir};

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// The files before the restore. Restore this checkpoint to undo.
    pub undo: CheckpointId,
    pub restored: Vec<PathBuf>,
    pub removed: Vec<PathBuf>,
    pub skipped: Vec<SkippedChange>,
    /// Paths that failed, and why.
    pub errors: Vec<(PathBuf, String)>,
}

/// Executes `tasks`, which are sorted by path.
pub(super) struct Restorer<'a> {
    pub(super) context: &'a ScanContext,
    pub(super) catalog: &'a Catalog,
    pub(super) workspace_dir: WorkspaceDir,
    pub(super) done: RestoreReport,
    pub(super) drafts: u64,
    /// Paths that were removed, or could not be removed or written.
    pub(super) settled: HashSet<PathBuf>,
}

const CHANGED_MEANWHILE: &str = "it changed during the restore and was left unchanged";

impl Restorer<'_> {
    /// First removes what is in the way, then writes everything, then removes the rest. So a failure loses no
    /// content unnecessarily.
    pub(super) fn run(mut self, tasks: &[Task]) -> RestoreReport {
        for (nth, task) in tasks.iter().enumerate().filter(|(_, task)| is_in_the_way(task)) {
            // Tasks are sorted by path, so the contents of a directory follow it.
            let inner = tasks.iter().skip(nth + 1).take_while(|it| it.path.starts_with(&task.path));
            self.remove_all(inner.collect(), None);
            self.remove(task);
        }
        for task in tasks {
            if self.is_settled(&task.path) {
                continue;
            }
            match &task.after {
                Some(Entry::Directory { .. }) => self.create_dir(task),
                Some(Entry::File { .. } | Entry::Link { .. }) => self.write(task),
                Some(Entry::Skipped { .. }) | None => {}
            }
        }
        // Files that the old ignore rules hide may have existed without being captured.
        let has_rules =
            tasks.iter().any(|task| task.path.file_name().is_some_and(|name| name == ".gitignore"));
        let visible = has_rules.then(|| visible(self.context));
        self.remove_all(tasks.iter().collect(), visible.as_ref());
        for task in tasks.iter().rev() {
            if let Some(Entry::Directory { mode }) = task.after
                && !self.is_settled(&task.path)
            {
                let set = self.workspace_dir.set_dir_mode(&task.path, mode);
                self.note(&task.path, set);
            }
        }
        self.done
    }

    /// Removes what should not exist, innermost first.
    fn remove_all(&mut self, tasks: Vec<&Task>, visible: Option<&HashSet<PathBuf>>) {
        for task in tasks.into_iter().rev().filter(|task| task.after.is_none()) {
            if self.is_settled(&task.path) {
                continue;
            }
            if visible.is_some_and(|visible| !visible.contains(&task.path)) {
                let reason = "the ignore rules of the checkpoint exclude it".to_owned();
                self.done.skipped.push(SkippedChange { path: task.path.clone(), reason });
                continue;
            }
            self.remove(task);
        }
    }

    /// Whether `path` was already removed, or failed.
    fn is_settled(&self, path: &Path) -> bool {
        self.settled.contains(path)
    }

    fn remove(&mut self, task: &Task) {
        let path = &task.path;
        let removed = (|| {
            self.check(task)?;
            self.context.probe.before(Io::Remove, path)?;
            match task.before {
                Some(Entry::Directory { .. }) => self.workspace_dir.remove_dir(path),
                Some(Entry::File { .. } | Entry::Link { .. } | Entry::Skipped { .. }) => {
                    self.workspace_dir.remove(path)
                }
                None => Ok(()),
            }
        })();
        match removed {
            Ok(()) if task.after.is_none() => {
                self.settled.insert(path.clone());
                self.done.removed.push(path.clone());
            }
            // A directory that still contains other files stays.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && task.after.is_none() => {}
            removed => self.note(path, removed),
        }
    }

    fn create_dir(&mut self, task: &Task) {
        let created = match task.before {
            Some(Entry::Directory { .. }) => Ok(()),
            Some(Entry::File { .. } | Entry::Link { .. } | Entry::Skipped { .. }) | None => {
                self.workspace_dir.forget();
                let ready = self.context.probe.before(Io::CreateDir, &task.path);
                ready.and_then(|()| self.workspace_dir.create_dir(&task.path))
            }
        };
        match created {
            Ok(()) => self.done.restored.push(task.path.clone()),
            created => self.note(&task.path, created),
        }
    }

    fn write(&mut self, task: &Task) {
        let path = &task.path;
        self.workspace_dir.forget();
        let written = (|| {
            let target_state = match task.before {
                None | Some(Entry::Directory { .. }) => Target::Empty,
                Some(Entry::File { .. } | Entry::Link { .. } | Entry::Skipped { .. }) => Target::Taken,
            };
            self.drafts += 1;
            let name = draft_name(self.drafts);
            self.context.probe.before(Io::Draft, path)?;
            let drafted = match &task.after {
                Some(Entry::File { mode, blob, .. }) => {
                    let content = self.catalog.content(*blob)?;
                    self.workspace_dir.draft_file(path, &name, &content, *mode)
                }
                Some(Entry::Link { target }) => self.workspace_dir.draft_link(path, &name, target),
                Some(Entry::Directory { .. } | Entry::Skipped { .. }) | None => return Ok(()),
            };
            let published =
                drafted.and_then(|()| self.context.probe.before(Io::Publish, path)).and_then(|()| {
                    if target_state == Target::Taken {
                        self.check(task)?;
                    }
                    self.workspace_dir.publish(path, &name, target_state)
                });
            if published.is_err() {
                // A draft that cannot be removed is cleaned up by the next capture.
                self.workspace_dir.unlink(path, &name).ok();
            }
            published
        })();
        match written {
            Ok(()) => self.done.restored.push(path.clone()),
            written => self.note(path, written),
        }
    }

    fn check(&mut self, task: &Task) -> io::Result<()> {
        if is_untouched(&mut self.workspace_dir, &task.path, task.before.as_ref())? {
            return Ok(());
        }
        Err(io::Error::other(CHANGED_MEANWHILE))
    }

    fn note(&mut self, path: &Path, result: io::Result<()>) {
        if let Err(error) = result {
            self.settled.insert(path.to_owned());
            self.done.errors.push((path.to_owned(), error.to_string()));
        }
    }
}

/// Whether a directory replaces a file, or a file a directory.
fn is_in_the_way(task: &Task) -> bool {
    match (&task.before, &task.after) {
        (Some(Entry::File { .. } | Entry::Link { .. }), Some(Entry::Directory { .. }))
        | (Some(Entry::Directory { .. }), Some(Entry::File { .. } | Entry::Link { .. })) => true,
        (
            Some(Entry::File { .. } | Entry::Link { .. } | Entry::Directory { .. } | Entry::Skipped { .. })
            | None,
            Some(Entry::File { .. } | Entry::Link { .. } | Entry::Directory { .. } | Entry::Skipped { .. })
            | None,
        ) => false,
    }
}
