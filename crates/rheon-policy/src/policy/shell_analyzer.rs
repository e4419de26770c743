//! `ShellAnalyzer`: where policy learns what a line of bash would run; `ShellFacts`: what it tells the shell of that;
//! `ShellDirectory`: where the next line begins.

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::Danger;

use crate::shell::{self, Analysis, SimpleCommand};

/// Where policy learns what a line of bash would run.
#[derive(Debug, Clone, Copy)]
pub struct ShellAnalyzer {
    /// What a line would run.
    pub analyze: fn(&str) -> Analysis,
    /// How much harm a command could do, and why.
    pub danger: fn(&SimpleCommand) -> (Danger, &'static str),
}

/// What the gate found out about a call that runs a line of bash. It travels with the verdict to the tool
/// ([`CallFacts`](rheon_types::CallFacts)), which need not analyze the line again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellFacts {
    /// The line.
    pub line: String,
    /// The folder in which it was judged to begin; absent where the gate follows no shell.
    pub folder: Option<PathBuf>,
    /// What it would run.
    pub analysis: Analysis,
}

impl Default for ShellAnalyzer {
    fn default() -> Self {
        Self { analyze: shell::analyze, danger: shell::danger }
    }
}

/// Where the next line of bash begins. Clones share it: the shell moves it, the gate looks at it.
#[derive(Debug, Clone)]
pub struct ShellDirectory {
    root: PathBuf,
    /// Where the last line ended; it may be gone by now.
    last: Arc<Mutex<PathBuf>>,
}

impl ShellDirectory {
    /// Begins in `root`, which is named without links.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { last: Arc::new(Mutex::new(root.clone())), root }
    }

    /// Where the last line ended; the root if that is gone, or if a link was put in its place.
    pub fn current(&self) -> PathBuf {
        let last = self.last().clone();
        let is_there = last.is_dir() && last.canonicalize().is_ok_and(|real| real == last);
        if is_there { last } else { self.root.clone() }
    }

    /// The next line begins in `folder`. Returns where the last one ended.
    pub fn enter(&self, folder: PathBuf) -> PathBuf {
        mem::replace(&mut self.last(), folder)
    }

    fn last(&self) -> MutexGuard<'_, PathBuf> {
        // Nothing panics while it holds the lock.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
