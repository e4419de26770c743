//! Protected names on systems without a sandbox: there is nothing to watch.

use std::path::{Path, PathBuf};

#[path = "names/report.rs"]
mod report;
#[path = "names/rules.rs"]
mod rules;

pub use report::{NameOutcome, NameReport};
pub(crate) use rules::NameRules;

#[derive(Debug, Clone)]
pub(crate) struct NameWatch;

#[derive(Debug)]
pub(crate) struct WatchedCommand;

impl NameWatch {
    pub(crate) fn new(_rules: NameRules) -> Self {
        Self
    }

    pub(crate) fn warm(&self) {}

    pub(crate) fn begin(&self, _approved: &[PathBuf]) -> (WatchedCommand, Vec<PathBuf>) {
        (WatchedCommand, Vec::new())
    }

    pub(crate) fn begin_trusted(&self) -> WatchedCommand {
        WatchedCommand
    }

    pub(crate) fn expect_absent(&self, _paths: &[PathBuf]) {}

    pub(crate) fn accept(&self, _path: &Path) {}

    pub(crate) fn remove(&self, _path: &Path) {}

    pub(crate) fn take_reports(&self) -> Vec<NameReport> {
        Vec::new()
    }
}
