//! `ShellAnalyzer`, `ShellDirectory`, `ShellFacts` and `FileFacts`: how the gate learns what a line of bash would run, and
//! what it passes on to the tools.

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::Danger;

use crate::policy::refusals::SandboxRefusals;
use crate::shell::{self, Analysis, SimpleCommand};

/// The functions that analyze bash. Tests replace them.
#[derive(Debug, Clone, Copy)]
pub struct ShellAnalyzer {
    pub analyze: fn(&str) -> Analysis,
    /// How dangerous a command is, and why.
    pub danger: fn(&SimpleCommand) -> (Danger, &'static str),
}

/// What the gate worked out about a line of bash. It travels with the verdict to the tool
/// ([`CallFacts`](rheon_types::CallFacts)), which then does not analyze the line again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellFacts {
    pub line: String,
    /// The working directory that the decision assumes; `None` if the gate does not follow a shell.
    pub dir: Option<PathBuf>,
    pub analysis: Analysis,
    /// Where the shell says that the sandbox refused something.
    pub refusals: SandboxRefusals,
}

/// The files that the gate judged, with every symlink resolved. A file tool uses these and no others: what leads elsewhere by
/// then was not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    pub files: Vec<PathBuf>,
}

impl Default for ShellAnalyzer {
    fn default() -> Self {
        Self { analyze: shell::analyze, danger: shell::danger }
    }
}

/// The working directory of the next line of bash. Clones share it: the shell changes it, the gate reads it.
#[derive(Debug, Clone)]
pub struct ShellDirectory {
    root: PathBuf,
    /// Where the last line ended. It may have been removed since.
    last: Arc<Mutex<PathBuf>>,
}

impl ShellDirectory {
    /// Starts in `root`, which must not contain symlinks.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { last: Arc::new(Mutex::new(root.clone())), root }
    }

    /// The directory in which the last line ended, or the root if that was removed or replaced by a symlink.
    pub fn current(&self) -> PathBuf {
        let last = self.last().clone();
        let is_there = last.is_dir() && last.canonicalize().is_ok_and(|real| real == last);
        if is_there { last } else { self.root.clone() }
    }

    /// Sets the directory for the next line and returns the previous one.
    pub fn enter(&self, dir: PathBuf) -> PathBuf {
        mem::replace(&mut self.last(), dir)
    }

    fn last(&self) -> MutexGuard<'_, PathBuf> {
        // No code panics while it holds the lock.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
