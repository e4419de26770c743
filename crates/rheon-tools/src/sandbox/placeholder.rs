//! `Placeholder`: something must stand where nothing may come to be, for a mount needs a place. It is an empty folder,
//! which git takes for no repository, and it goes when the last process that needs it has ended.
//!
//! It says itself what it is: an empty folder of this user whose time of change no other folder has. So one that an agent
//! left behind when it was killed is known again. A lock on it says whether a living agent needs it: the kernel takes the
//! mounts of all away with the folder.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::process::Guard;

/// Those that this program needs. One table for the whole program, because so is the file system.
static NEEDED: Mutex<BTreeMap<PathBuf, Needed>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
struct Needed {
    processes: usize,
    /// Locked as long as it is open.
    folder: File,
}

/// An empty folder that is there as long as this is.
#[derive(Debug)]
pub(super) struct Placeholder {
    path: PathBuf,
}

/// How often one is made again that another agent removed in the moment before it was locked.
const ATTEMPTS_MAX: usize = 16;

impl Placeholder {
    /// Puts one at `path`, or joins the one that is there. Nothing if something else is there or it cannot be done.
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

    /// Whether a placeholder is at the path, of this agent or of another, or left behind by one that was killed.
    pub(super) fn is_at(path: &Path) -> bool {
        NEEDED.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path) || system::is_ours(path)
    }

    /// Removes one that nobody needs any more.
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

/// All that one process needs.
#[derive(Debug)]
pub(super) struct Placeholders(pub(super) Vec<Placeholder>);

impl Guard for Placeholders {
    /// Removes them. To close a folder that was removed takes the file system longer than to remove it.
    fn release(self: Box<Self>) -> Box<dyn Any + Send> {
        let removed: Vec<File> = self.0.into_iter().filter_map(|mut it| it.leave()).collect();
        Box::new(removed)
    }
}

impl Placeholder {
    /// Removes it if no other process needs it.
    fn leave(&mut self) -> Option<File> {
        let mut all = NEEDED.lock().unwrap_or_else(PoisonError::into_inner);
        // There is no path if it has been left before.
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

#[cfg(unix)]
mod system {
    use std::fs::{File, FileTimes, Metadata};
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use rustix::fs::{FlockOperation, Mode, OFlags, flock};

    /// The time of change, in seconds; even, because some file systems know no others.
    const MARK_SECONDS: u64 = 86_420;

    fn mark() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(MARK_SECONDS)
    }

    fn is_marked(found: &Metadata) -> bool {
        found.is_dir()
            && found.modified().is_ok_and(|time| time == mark())
            && found.uid() == rustix::process::geteuid().as_raw()
    }

    /// Whether this is a placeholder: marked and empty. Whatever is put into it takes the mark away.
    pub(super) fn is_ours(path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|found| is_marked(&found))
            && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
    }

    /// Opens a folder, and neither what a link leads to nor a pipe that would wait for somebody.
    pub(super) fn open(path: &Path) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).ok().map(File::from)
    }

    /// Makes the placeholder or opens the one that is there, and locks it against removal.
    pub(super) fn shared(path: &Path) -> Option<File> {
        let made = std::fs::create_dir(path).is_ok();
        let folder = open(path)?;
        if made {
            // Without the mark it would not be known again; then it is better not to have made it.
            let times = FileTimes::new().set_accessed(mark()).set_modified(mark());
            if folder.set_times(times).is_err() {
                drop(std::fs::remove_dir(path));
                return None;
            }
        }
        // Where the file system has no locks, this agent alone takes care.
        flock(&folder, FlockOperation::NonBlockingLockShared).ok();
        ((made || is_ours(path)) && is_still(path, &folder)).then_some(folder)
    }

    /// Removes an empty folder that no other agent has locked. If the user put something into it, it is theirs now.
    pub(super) fn remove_unless_needed(path: &Path, folder: &File) {
        if flock(folder, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
            && is_still(path, folder)
        {
            // Whatever somebody put into it without taking the mark away keeps it from being removed.
            drop(std::fs::remove_dir(path));
        }
    }

    /// Whether `folder` is still what is at the path, and still marked.
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
