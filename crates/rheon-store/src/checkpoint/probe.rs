//! `Probe`: where tests look in and let a step of IO fail. Elsewhere it does nothing.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// A step of IO, before it is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Io {
    /// The mark that a capture is under way.
    Mark,
    /// The content of a file in the workspace.
    Read,
    /// A payload goes into the store.
    Put,
    /// All payloads become safe.
    Sync,
    /// The checkpoint gets its name.
    Commit,
    /// The mark goes.
    Unmark,
    /// Checkpoints go, and what only they used.
    Forget,
    /// A file is written beside the one that it replaces.
    Draft,
    /// It takes its place.
    Publish,
    /// A file, a link or a folder goes.
    Remove,
    /// A folder is made.
    MakeFolder,
}

type See = dyn Fn(Io, &Path) -> io::Result<()> + Send + Sync;

/// What is told of every step, and may let it fail.
#[derive(Clone, Default)]
pub(super) struct Probe {
    see: Option<Arc<See>>,
    /// The time of the file system, if it is not to be asked.
    pub(super) now: Option<SystemTime>,
}

impl Probe {
    /// A probe that tells `see`.
    #[cfg(test)]
    pub(super) fn new(see: impl Fn(Io, &Path) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { see: Some(Arc::new(see)), now: None }
    }

    /// Before the step `io` with `path`.
    pub(super) fn before(&self, io: Io, path: &Path) -> io::Result<()> {
        self.see.as_ref().map_or(Ok(()), |see| see(io, path))
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe")
    }
}
