//! `Probe`: lets tests observe IO steps and make them fail. Does nothing otherwise.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// An IO step that is about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Io {
    /// Mark the start of a capture.
    Mark,
    /// Read a file of the workspace.
    Read,
    /// Store a payload.
    Put,
    /// Sync all payloads.
    Sync,
    /// Give the checkpoint its name.
    Commit,
    /// Remove the mark.
    Unmark,
    /// Remove checkpoints and payloads.
    Forget,
    /// Write a temporary file beside the one it replaces.
    Draft,
    /// Replace the file.
    Publish,
    /// Remove a file, link or directory.
    Remove,
    /// Create a directory.
    CreateDir,
}

type See = dyn Fn(Io, &Path) -> io::Result<()> + Send + Sync;

/// A callback before each IO step, which may make it fail.
#[derive(Clone, Default)]
pub(super) struct Probe {
    see: Option<Arc<See>>,
    /// Replaces the clock of the file system.
    pub(super) now: Option<SystemTime>,
}

impl Probe {
    #[cfg(test)]
    pub(super) fn new(see: impl Fn(Io, &Path) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { see: Some(Arc::new(see)), now: None }
    }

    /// Called before the step `io` on `path`.
    pub(super) fn before(&self, io: Io, path: &Path) -> io::Result<()> {
        self.see.as_ref().map_or(Ok(()), |see| see(io, path))
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe")
    }
}
