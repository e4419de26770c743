//! Walking the workspace as ripgrep does: ignore files obeyed, hidden files seen, `.git` left out, links not followed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::TypesBuilder;
use ignore::{DirEntry, WalkBuilder};
use rheon_policy::Access;
use rheon_types::{ToolContext, ToolError};

use crate::files::{DirectoryEntry, DirectoryHandle, Hidden, OnMissing, Workshop};

/// Where a search goes.
pub(super) struct Ground {
    /// Where it begins.
    pub(super) folder: PathBuf,
    /// The root that it may not leave.
    root: DirectoryHandle,
    root_path: PathBuf,
    /// What it leaves out.
    hidden: Hidden,
}

/// The ground of a search: from `path` on, or the workspace.
pub(super) fn ground(workshop: &Workshop, path: Option<&str>) -> Result<Ground, ToolError> {
    let resolved = workshop.admit(path.unwrap_or("."), Access::Read)?;
    if !resolved.path.exists() {
        let shown = workshop.workspace().shown(&resolved.path);
        return Err(ToolError::Failed(format!("there is no {shown}; list the folder above it")));
    }
    let root_path = workshop.root_of(&resolved.path).to_owned();
    let root = DirectoryHandle::open(&root_path, Path::new(""), OnMissing::Refuse)
        .map_err(|problem| ToolError::Failed(format!("cannot look into the workspace: {problem}")))?;
    Ok(Ground { folder: resolved.path, root, root_path, hidden: workshop.hidden().clone() })
}

impl Ground {
    /// Opens a file that the walk found. What has become a link meanwhile is not followed.
    pub(super) fn open(&self, path: &Path) -> std::io::Result<File> {
        let Self { root, root_path, .. } = self;
        let relative = path.strip_prefix(root_path).unwrap_or(path);
        if root_path.parent().is_some() {
            return root.file(relative);
        }
        // Outside the workspace there are files that the kernel makes up, and that show what other processes hold.
        let parent = relative.parent().unwrap_or(Path::new(""));
        match DirectoryHandle::open(root_path, parent, OnMissing::Refuse)?
            .entry(relative.file_name().unwrap_or_default())?
        {
            DirectoryEntry::File(file) => Ok(file),
            DirectoryEntry::Absent | DirectoryEntry::Directory | DirectoryEntry::Other(_) => {
                Err(std::io::ErrorKind::InvalidInput.into())
            }
        }
    }
}

/// How long one search may take.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// How many threads look at once. More gain little, since the disk is shared.
const THREADS: usize = 4;

/// A walk over `ground`, of files whose names fit `globs` and whose kind is `kind`.
pub(super) fn walk(ground: &Ground, globs: &[String], kind: Option<&str>) -> Result<WalkBuilder, ToolError> {
    let hidden = ground.hidden.clone();
    let mut builder = WalkBuilder::new(&ground.folder);
    builder
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .overrides(overrides(&ground.folder, globs)?)
        .filter_entry(move |entry| entry.file_name() != ".git" && !hidden.leaves_out(entry.path()))
        .threads(THREADS);
    if let Some(kind) = kind {
        let mut types = TypesBuilder::new();
        types.add_defaults().select(kind);
        let types = types.build().map_err(|problem| {
            ToolError::InvalidArgs(format!("there is no type {kind:?}: {problem}; use `glob` instead"))
        })?;
        builder.types(types);
    }
    Ok(builder)
}

fn overrides(folder: &Path, globs: &[String]) -> Result<Override, ToolError> {
    let mut builder = OverrideBuilder::new(folder);
    for glob in globs {
        let added = builder.add(glob);
        added.map_err(|problem| ToolError::InvalidArgs(format!("{glob:?} is no pattern: {problem}")))?;
    }
    builder.build().map_err(|problem| ToolError::InvalidArgs(format!("the patterns do not fit: {problem}")))
}

/// Whether the entry is an ordinary file: no folder, link, device or pipe.
pub(super) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// Tells a thread that works for a tool when to stop.
#[derive(Debug, Clone, Default)]
pub(super) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Whether to stop.
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag when it is dropped, so that no thread outlives whoever waits for it by much.
struct StopGuard(StopFlag);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a thread of its own until it is done, cancelled or out of time.
pub(super) async fn on_thread<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(StopFlag) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let flag = StopFlag::default();
    let _stop = StopGuard(flag.clone());
    let task = tokio::task::spawn_blocking(move || work(flag));
    tokio::select! {
        done = task => done.map_err(|problem| ToolError::Panicked(format!("the search broke down: {problem}")))?,
        () = context.cancel.cancelled() => Err(ToolError::Cancelled("the search was cancelled".into())),
        () = tokio::time::sleep(TIME_LIMIT) => {
            let seconds = TIME_LIMIT.as_secs();
            Err(ToolError::TimedOut(format!("the search took longer than {seconds} s; narrow it with `path` or `glob`")))
        }
    }
}
