//! Fixture for tests of built-in tools: a directory with files, and the context of a call.

use std::path::Path;
use std::sync::Arc;

use rheon_policy::Workspace;
use rheon_testkit::TestClock;
use rheon_types::ToolContext;
use tempfile::TempDir;

use crate::files::FileContext;

pub(super) fn dir(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}

pub(super) fn file_context(dir: &Path) -> FileContext {
    FileContext::new(Workspace::new(dir).unwrap(), Arc::new(TestClock::default()))
}

pub(super) fn context(tool: &str) -> ToolContext {
    ToolContext::new("call", tool).in_run("session", "run")
}
