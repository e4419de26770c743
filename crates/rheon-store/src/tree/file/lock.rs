//! `SaveLock`: allows one writer per session, across processes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::session_name::SessionName;
use crate::tree::store::SessionStoreError;

/// How often to recreate a lock file that another process removes.
const ATTEMPTS_MAX: u32 = 100;

/// How much of a lock file is read to find its holder.
const HOLDER_BYTES_MAX: u64 = 32;

/// The lock for writing one session, held until it is dropped. The kernel releases it when the process dies; a
/// leftover file means nothing.
#[derive(Debug)]
pub(super) struct SaveLock {
    path: PathBuf,
    /// Closing it releases the lock.
    _file: File,
}

impl SaveLock {
    pub(super) fn file_name(name: &SessionName) -> String {
        format!(".{name}.lock")
    }

    /// Takes the lock, or fails with the holder.
    pub(super) fn take(dir: &Path, name: &SessionName) -> Result<Self, SessionStoreError> {
        let path = dir.join(Self::file_name(name));
        let fault = |source| SessionStoreError::Io { action: "lock", path: path.clone(), source };
        for _ in 0..ATTEMPTS_MAX {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(no_follow_flag())
                .open(&path)
                .map_err(fault)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(SessionStoreError::Locked {
                        id: name.session_id(),
                        holder: holder(&mut file),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(fault(source)),
            }
            // The previous holder removes the file before it releases the lock. Then this lock is on a removed file.
            if is_still_there(&file, &path).map_err(fault)? {
                file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(fault)?;
                return Ok(Self { path, _file: file });
            }
        }
        Err(SessionStoreError::Locked { id: name.session_id(), holder: None })
    }
}

impl Drop for SaveLock {
    fn drop(&mut self) {
        // A leftover lock file is harmless: the next writer reuses it.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

fn no_follow_flag() -> i32 {
    i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default()
}

fn is_still_there(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(theirs) => Ok(ours.dev() == theirs.dev() && ours.ino() == theirs.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(HOLDER_BYTES_MAX).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
