//! `TemporaryDirectory`: a folder that goes with its owner, and also where the program ends without waiting for its owners.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// Those that are there. One table for the whole program, because the end of it is one too.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A folder that goes with this.
#[derive(Debug)]
pub struct TemporaryDirectory(TempDir);

impl TemporaryDirectory {
    /// Makes one whose name begins with `prefix`.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let folder = TempDir::with_prefix(prefix)?;
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.path().to_path_buf());
        Ok(Self(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).remove(self.0.path());
    }
}

/// Removes all temporary folders of tools and sandboxes. For a program that ends at once, without dropping what owns them;
/// what still runs loses its folder.
pub fn remove_temporary_directories() {
    let folders = std::mem::take(&mut *FOLDERS.lock().unwrap_or_else(PoisonError::into_inner));
    for folder in folders {
        // Whoever is about to end the program has no use for what stays.
        drop(std::fs::remove_dir_all(folder));
    }
}
