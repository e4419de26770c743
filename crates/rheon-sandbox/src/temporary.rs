//! `TemporaryDirectory`: a directory that is removed with its owner, when the program exits without dropping its owners,
//! or by a later program if this one is killed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use tempfile::TempDir;

/// All existing ones. Global, because the program exits as a whole.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The ending of the names, which says that a lock tells whether the owner lives.
const ENDING: &str = ".session";

/// A directory that is removed when this is dropped. Only the user can read it.
#[derive(Debug)]
pub struct TemporaryDirectory {
    folder: TempDir,
    /// Locked as long as this program lives.
    _lock: Option<File>,
}

impl TemporaryDirectory {
    /// Creates a directory whose name starts with `prefix`.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(ENDING);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir()?;
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.path().to_path_buf());
        let lock = system::lock(folder.path());
        Ok(Self { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).remove(self.folder.path());
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

/// Removes what killed programs have left, once per program.
pub(crate) fn sweep_temporary_directories() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Ok(own) = TemporaryDirectory::new("rheon-sweep-") else { return };
        if let Some(folder) = own.path().parent() {
            sweep(folder);
        }
    });
}

/// Removes the directories in `folder` whose owners are gone.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(b"rheon-") && name.ends_with(ENDING.as_bytes()) {
            system::remove_abandoned(&entry.path());
        }
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::time::Duration;

    use rustix::fs::{FlockOperation, Mode, OFlags, flock};

    fn open(folder: &Path) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(folder, flags, Mode::empty()).ok().map(File::from)
    }

    pub(super) fn lock(folder: &Path) -> Option<File> {
        let file = open(folder)?;
        flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
        Some(file)
    }

    /// A new one may not be locked yet.
    const YOUNGEST: Duration = Duration::from_secs(60);

    pub(super) fn remove_abandoned(folder: &Path) {
        let Some(file) = open(folder) else { return };
        let is_own = file.metadata().is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
        let is_old = file
            .metadata()
            .and_then(|found| found.modified())
            .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > YOUNGEST));
        if is_own && is_old && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // What cannot be removed now is tried again by the next program.
            drop(std::fs::remove_dir_all(folder));
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::path::Path;

    pub(super) fn lock(_folder: &Path) -> Option<File> {
        None
    }

    pub(super) fn remove_abandoned(_folder: &Path) {}
}

#[cfg(test)]
#[path = "temporary_tests.rs"]
mod tests;
