//! `TemporaryDirectory`: a directory that is removed with its owner, when the program exits without dropping its owners,
//! or by a later program if this one is killed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use tempfile::TempDir;

/// All existing ones. Global, because the program exits as a whole.
static DIRS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The ending of the names, which says that a lock tells whether the owner lives.
const ENDING: &str = ".session";

/// A directory that is removed when this is dropped. Only the user can read it.
#[derive(Debug)]
pub struct TemporaryDirectory {
    dir: TempDir,
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
        let dir = builder.tempdir()?;
        DIRS.lock().unwrap_or_else(PoisonError::into_inner).insert(dir.path().to_path_buf());
        let lock = system::lock(dir.path());
        Ok(Self { dir, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        DIRS.lock().unwrap_or_else(PoisonError::into_inner).remove(self.dir.path());
    }
}

/// Removes all temporary directories of tools and sandboxes. For a program that exits at once without dropping their
/// owners; processes that still run lose their directory.
pub fn remove_temporary_directories() {
    let dirs = std::mem::take(&mut *DIRS.lock().unwrap_or_else(PoisonError::into_inner));
    for dir in dirs {
        // The program is about to exit, so a failure does not matter.
        drop(std::fs::remove_dir_all(dir));
    }
}

/// Removes what killed programs have left, once per program.
pub(crate) fn sweep_temporary_directories() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Ok(own) = TemporaryDirectory::new("rheon-sweep-") else { return };
        if let Some(dir) = own.path().parent() {
            sweep(dir);
        }
    });
}

/// Removes the directories in `dir` whose owners are gone.
fn sweep(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
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

    fn open(dir: &Path) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(dir, flags, Mode::empty()).ok().map(File::from)
    }

    pub(super) fn lock(dir: &Path) -> Option<File> {
        let file = open(dir)?;
        flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
        Some(file)
    }

    /// A new one may not be locked yet.
    const YOUNGEST: Duration = Duration::from_secs(60);

    pub(super) fn remove_abandoned(dir: &Path) {
        let Some(file) = open(dir) else { return };
        let is_own = file.metadata().is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
        let is_old = file
            .metadata()
            .and_then(|found| found.modified())
            .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > YOUNGEST));
        if is_own && is_old && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // What cannot be removed now is tried again by the next program.
            drop(std::fs::remove_dir_all(dir));
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::path::Path;

    pub(super) fn lock(_dir: &Path) -> Option<File> {
        None
    }

    pub(super) fn remove_abandoned(_dir: &Path) {}
}

#[cfg(test)]
#[path = "temporary_tests.rs"]
mod tests;
