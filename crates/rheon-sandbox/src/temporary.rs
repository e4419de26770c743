//! `TemporaryDirectory`: a directory that is removed with its owner, or when the program exits without dropping its
//! owners.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// All existing ones. Global, because the program exits as a whole.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A directory that is removed when this is dropped.
#[derive(Debug)]
pub struct TemporaryDirectory(TempDir);

impl TemporaryDirectory {
    /// Creates a directory whose name starts with `prefix`.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let folder = TempDir::with_prefix(prefix)?;
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.path().to_path_buf());
        Ok(Self(folder))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).remove(self.0.path());
    }
}

/// Removes all temporary directories of tools and sandboxes. For a program that exits at once without dropping their
/// owners; processes that still run lose their directory.
pub fn remove_temporary_directories() {
    let folders = std::mem::take(&mut *FOLDERS.lock().unwrap_or_else(PoisonError::into_inner));
    for folder in folders {
        // The program is about to exit, so a failure does not matter.
        drop(std::fs::remove_dir_all(folder));
    }
}
