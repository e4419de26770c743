//! Fixture for tests of file tools: a workspace, a directory outside it, and calls.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rheon_types::{Clock, Timestamp, Tool, ToolContext, ToolError, ToolResult};
use serde_json::Value;
use tempfile::TempDir;

use crate::Workspace;
use crate::files::{FileContext, ReadScope};

/// A clock far in the future, so that all files are old. It advances only on request.
#[derive(Default)]
pub(crate) struct FarClock {
    elapsed_s: AtomicU64,
}

impl FarClock {
    pub(crate) fn advance(&self, seconds: u64) {
        self.elapsed_s.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Clock for FarClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(4_102_444_800_000)
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.elapsed_s.load(Ordering::Relaxed))
    }
}

pub(crate) struct Fixture {
    _dir: TempDir,
    pub(crate) base: PathBuf,
    pub(crate) file_context: FileContext,
}

impl Fixture {
    /// A workspace `repo` next to a directory `outside` that contains the file `secret`.
    pub(crate) fn new() -> Self {
        Self::with_read_scope(ReadScope::Workspace)
    }

    pub(crate) fn with_read_scope(reach: ReadScope) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("repo")).unwrap();
        std::fs::create_dir_all(base.join("outside")).unwrap();
        std::fs::write(base.join("outside/secret"), "secret\n").unwrap();
        let workspace = Workspace::new(&base.join("repo")).unwrap();
        let file_context = FileContext::with_read_scope(workspace, Arc::new(FarClock::default()), reach);
        Self { _dir: dir, base, file_context }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.base.join("repo").join(path)
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    /// All names in the workspace, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(&self.at(""))
    }

    /// Swaps the directory `real` and a link to the outside directory over and over, until the guard is dropped.
    pub(crate) fn swap(&self) -> SwapGuard {
        let (one, two) = (self.at("real"), self.at("link"));
        std::os::unix::fs::symlink("../outside", &two).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, &one, rustix::fs::CWD, &two, flags).unwrap();
            }
        });
        SwapGuard { stop, thread: Some(thread) }
    }

    pub(crate) fn outside(&self) -> Vec<String> {
        names_in(&self.base.join("outside"))
    }
}

/// Stops swapping when dropped.
pub(crate) struct SwapGuard {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for SwapGuard {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn names_in(dir: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn context_of(run: &str) -> ToolContext {
    ToolContext::new("call", "tool").in_run("session", run)
}

/// One call with what the gate found out about it.
pub(crate) async fn call_in(
    tool: impl Tool,
    arguments: Value,
    context: ToolContext,
) -> Result<ToolResult, ToolError> {
    tool.execute(Arc::new(arguments), context).await
}

pub(crate) async fn call(tool: impl Tool, arguments: Value) -> Result<ToolResult, ToolError> {
    tool.execute(Arc::new(arguments), context_of("run")).await
}

/// What the model reads, for a result or an error.
pub(crate) async fn output_of(tool: impl Tool, arguments: Value) -> String {
    match call(tool, arguments).await {
        Ok(result) => result.as_text(),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}
