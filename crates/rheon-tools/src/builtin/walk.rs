//! Walks the workspace like ripgrep: respects ignore files, includes hidden files, skips `.git`, and follows no links.

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

use crate::files::{DirectoryEntry, DirectoryHandle, FileContext, Granted, HiddenPaths, OnMissing};

/// Where a search starts and what it covers.
pub(super) struct SearchRoot {
    pub(super) dir: PathBuf,
    /// The root it must not leave.
    root: DirectoryHandle,
    root_path: PathBuf,
    hidden: HiddenPaths,
}

/// Resolves the start of a search: `path`, or the workspace.
pub(super) fn search_root(
    file_context: &FileContext,
    path: Option<&str>,
    context: &ToolContext,
) -> Result<SearchRoot, ToolError> {
    let resolved = file_context.resolve(path.unwrap_or("."), Access::Read, Granted::of(context))?;
    if !resolved.path.exists() {
        let shown = file_context.workspace().shown(&resolved.path);
        return Err(ToolError::Failed(format!("{shown} does not exist; list its parent directory")));
    }
    let root_path = file_context.root_of(&resolved.path).to_owned();
    let root = DirectoryHandle::open(&root_path, Path::new(""), OnMissing::Refuse)
        .map_err(|problem| ToolError::Failed(format!("cannot open the workspace: {problem}")))?;
    Ok(SearchRoot { dir: resolved.path, root, root_path, hidden: file_context.hidden().clone() })
}

impl SearchRoot {
    /// Opens a file that the walk found. Follows no link that replaced it meanwhile.
    pub(super) fn open(&self, path: &Path) -> std::io::Result<File> {
        let Self { root, root_path, .. } = self;
        let relative = path.strip_prefix(root_path).unwrap_or(path);
        if root_path.parent().is_some() {
            return root.file(relative);
        }
        // Outside the workspace there are files that the kernel generates and that reveal data of other processes.
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

/// The time limit of a search.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The number of threads. More gain little, since the disk is shared.
const THREADS: usize = 4;

/// A walk over files that match `globs` and have the type `kind`.
pub(super) fn walk(
    search_root: &SearchRoot,
    globs: &[String],
    kind: Option<&str>,
) -> Result<WalkBuilder, ToolError> {
    let hidden = search_root.hidden.clone();
    let mut builder = WalkBuilder::new(&search_root.dir);
    builder
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .overrides(overrides(&search_root.dir, globs)?)
        .filter_entry(move |entry| entry.file_name() != ".git" && !hidden.excludes(entry.path()))
        .threads(THREADS);
    if let Some(kind) = kind {
        let mut types = TypesBuilder::new();
        types.add_defaults().select(kind);
        let types = types.build().map_err(|problem| {
            ToolError::InvalidArgs(format!("unknown type {kind:?}: {problem}; use `glob` instead"))
        })?;
        builder.types(types);
    }
    Ok(builder)
}

fn overrides(dir: &Path, globs: &[String]) -> Result<Override, ToolError> {
    let mut builder = OverrideBuilder::new(dir);
    for glob in globs {
        let added = builder.add(glob);
        added.map_err(|problem| ToolError::InvalidArgs(format!("invalid pattern {glob:?}: {problem}")))?;
    }
    builder.build().map_err(|problem| ToolError::InvalidArgs(format!("invalid patterns: {problem}")))
}

/// Whether the entry is a regular file, not a directory, link, device or pipe.
pub(super) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// Tells a worker thread to stop.
#[derive(Debug, Clone, Default)]
pub(super) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag on drop, so that no thread runs much longer than its caller.
struct StopGuard(StopFlag);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a blocking thread until it is done, cancelled or out of time.
pub(super) async fn on_thread<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(StopFlag) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let flag = StopFlag::default();
    let _stop = StopGuard(flag.clone());
    let task = tokio::task::spawn_blocking(move || work(flag));
    tokio::select! {
        done = task => done.map_err(|problem| ToolError::Panicked(format!("the search failed: {problem}")))?,
        () = context.cancel.cancelled() => Err(ToolError::Cancelled("the search was cancelled".into())),
        () = tokio::time::sleep(TIME_LIMIT) => {
            let seconds = TIME_LIMIT.as_secs();
            Err(ToolError::TimedOut(format!("the search took longer than {seconds} s; narrow it with `path` or `glob`")))
        }
    }
}
