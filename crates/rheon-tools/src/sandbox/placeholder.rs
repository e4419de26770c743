//! `Placeholder`: something must stand where nothing may come to be, for a mount needs a place. It is an empty folder,
//! which git takes for no repository, and it goes when the last process that needs it has ended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many processes need each. One table for the whole program, because so is the file system: if one agent removed
/// a placeholder, the kernel would take away the mount of another.
static NEEDED: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

/// An empty folder that is there as long as this is.
#[derive(Debug)]
pub(super) struct Placeholder {
    path: PathBuf,
}

impl Placeholder {
    /// Puts one at `path`, unless something else is there or it cannot be done.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let mut needed = NEEDED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = needed.get_mut(path) {
            *count += 1;
        } else {
            std::fs::create_dir(path).ok()?;
            needed.insert(path.to_path_buf(), 1);
        }
        Some(Self { path: path.to_path_buf() })
    }

    /// Whether the path is one of ours.
    pub(super) fn is_at(path: &Path) -> bool {
        NEEDED.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        let mut needed = NEEDED.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = needed.get_mut(&self.path) else { return };
        *count -= 1;
        if *count == 0 {
            needed.remove(&self.path);
            // Only an empty folder is removed; if the user put something into it, it is theirs now.
            drop(std::fs::remove_dir(&self.path));
        }
    }
}
