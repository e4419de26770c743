//! `Placeholder`: occupies a path that must not be created, because a mount needs a mount point. It is an empty
//! directory, which git does not take for a repository, or a file with git's default content. It is removed when the
//! last process that needs it ends.
//!
//! A placeholder is recognized by its form, its owner and a modification time that nothing else has, so that one left
//! behind by a killed agent is found again. A lock on it shows whether a live agent needs it: removing the directory
//! would remove everyone's mounts.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The placeholders that this program needs. Global, because the file system is.
static NEEDED: Mutex<BTreeMap<PathBuf, Needed>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
struct Needed {
    processes: usize,
    /// Locked while it is open.
    folder: File,
}

/// An empty directory, or a harmless file, that exists as long as this value.
#[derive(Debug)]
pub(super) struct Placeholder {
    path: PathBuf,
}

/// How often to recreate one that another agent removed just before it was locked.
const ATTEMPTS_MAX: usize = 16;

impl Placeholder {
    /// Creates one at `path`, or joins an existing one. `None` if something else is there or it fails.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let mut all = NEEDED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(needed) = all.get_mut(path) {
            needed.processes += 1;
        } else {
            let folder = (0..ATTEMPTS_MAX).find_map(|_| system::shared(path))?;
            all.insert(path.to_path_buf(), Needed { processes: 1, folder });
        }
        Some(Self { path: path.to_path_buf() })
    }

    /// Whether the path is a placeholder: of this agent, of another, or left behind by a killed one.
    pub(super) fn is_at(path: &Path) -> bool {
        NEEDED.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path) || system::is_ours(path)
    }

    /// Removes one that is no longer needed.
    pub(super) fn sweep(path: &Path) {
        let all = NEEDED.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(path)
            && system::is_ours(path)
            && let Some(folder) = system::open(path)
        {
            system::remove_unless_needed(path, &folder);
        }
    }
}

impl Placeholder {
    /// Removes it if no other process needs it.
    pub(super) fn leave(&mut self) -> Option<File> {
        let mut all = NEEDED.lock().unwrap_or_else(PoisonError::into_inner);
        // The path is empty if it was left before.
        let path = std::mem::take(&mut self.path);
        let needed = all.get_mut(&path)?;
        needed.processes -= 1;
        if needed.processes > 0 {
            return None;
        }
        let needed = all.remove(&path)?;
        system::remove_unless_needed(&path, &needed.folder);
        Some(needed.folder)
    }
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        drop(self.leave());
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg(unix)]
enum Form {
    Folder,
    File(&'static str),
}

#[cfg(unix)]
impl Form {
    /// Git treats a directory at these names as damage: one holds further settings, the other says where settings are.
    fn of(path: &Path) -> Self {
        match path.file_name().and_then(std::ffi::OsStr::to_str) {
            Some("config.worktree") => Self::File(""),
            Some("commondir") => Self::File(".\n"),
            Some(_) | None => Self::Folder,
        }
    }
}

#[cfg(unix)]
mod system {
    use std::fs::{File, FileTimes, Metadata, OpenOptions};
    use std::io::{self, Write as _};
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use rustix::fs::{FlockOperation, Mode, OFlags, flock};

    use super::Form;

    /// The modification time in seconds. Even, because some file systems have a resolution of two seconds.
    const MARK_SECONDS: u64 = 86_420;

    fn mark() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(MARK_SECONDS)
    }

    fn is_marked(found: &Metadata) -> bool {
        found.modified().is_ok_and(|time| time == mark())
            && found.uid() == rustix::process::geteuid().as_raw()
    }

    /// Whether this is a placeholder: marked and unchanged. Writing into it removes the mark.
    pub(super) fn is_ours(path: &Path) -> bool {
        let Ok(found) = path.symlink_metadata() else { return false };
        let is_as_made = || match Form::of(path) {
            Form::Folder => {
                found.is_dir() && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
            }
            Form::File(text) => {
                found.is_file()
                    && found.len() == text.len() as u64
                    && std::fs::read(path).is_ok_and(|it| it == text.as_bytes())
            }
        };
        is_marked(&found) && is_as_made()
    }

    fn make(path: &Path) -> io::Result<()> {
        match Form::of(path) {
            Form::Folder => std::fs::create_dir(path),
            Form::File(text) => {
                OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
            }
        }
    }

    fn remove(path: &Path) {
        drop(match Form::of(path) {
            Form::Folder => std::fs::remove_dir(path),
            Form::File(_) => std::fs::remove_file(path),
        });
    }

    /// Opens a directory or file; follows no symlinks and never blocks on a pipe.
    pub(super) fn open(path: &Path) -> Option<File> {
        let kind = match Form::of(path) {
            Form::Folder => OFlags::DIRECTORY,
            Form::File(_) => OFlags::NONBLOCK,
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | kind;
        rustix::fs::open(path, flags, Mode::empty()).ok().map(File::from)
    }

    /// Creates or opens the placeholder, and locks it against removal.
    pub(super) fn shared(path: &Path) -> Option<File> {
        let made = make(path).is_ok();
        let folder = open(path)?;
        if made {
            // Without the mark it would not be recognized later, so remove it again.
            let times = FileTimes::new().set_accessed(mark()).set_modified(mark());
            if folder.set_times(times).is_err() {
                remove(path);
                return None;
            }
        }
        // If the file system has no locks, only this agent is taken into account.
        flock(&folder, FlockOperation::NonBlockingLockShared).ok();
        ((made || is_ours(path)) && is_still(path, &folder)).then_some(folder)
    }

    /// Removes one that no other agent has locked, unless the user put something into it.
    pub(super) fn remove_unless_needed(path: &Path, folder: &File) {
        if flock(folder, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
            && is_still(path, folder)
        {
            // Removing a directory fails if it is not empty; removing a file does not.
            if Form::of(path) == Form::Folder || is_ours(path) {
                remove(path);
            }
        }
    }

    /// Whether `folder` is still what exists at the path, and still marked.
    fn is_still(path: &Path, folder: &File) -> bool {
        match (path.symlink_metadata(), folder.metadata()) {
            (Ok(there), Ok(here)) => {
                is_marked(&there) && (there.dev(), there.ino()) == (here.dev(), here.ino())
            }
            (Err(_), _) | (_, Err(_)) => false,
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::path::Path;

    pub(super) fn is_ours(_path: &Path) -> bool {
        false
    }

    pub(super) fn open(_path: &Path) -> Option<File> {
        None
    }

    pub(super) fn shared(_path: &Path) -> Option<File> {
        None
    }

    pub(super) fn remove_unless_needed(_path: &Path, _folder: &File) {}
}

#[cfg(test)]
#[path = "placeholder_tests.rs"]
mod tests;
