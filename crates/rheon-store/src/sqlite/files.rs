//! The files of a database: private to the user, and moved aside together.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::error::DatabaseError;

/// The files that SQLite creates beside a database.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// Creates the directory (0700) and an empty file (0600) if they are missing, and removes the permissions of others.
/// SQLite copies the mode to the companion files.
pub(super) fn prepare(path: &Path) -> Result<(), DatabaseError> {
    let fault = |at: &Path, source| Err(DatabaseError::Prepare { path: at.to_owned(), source });
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty())
        && let Err(source) = create_dir(dir)
    {
        return fault(dir, source);
    }
    match create_file(path) {
        Ok(()) => Ok(()),
        Err(source) => fault(path, source),
    }
}

#[cfg(unix)]
fn create_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn create_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

#[cfg(unix)]
fn create_file(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn create_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).open(path).map(drop)
}

/// Where a damaged database is moved to. There is only one such path, so that repeated damage never fills the disk.
pub(super) fn aside(path: &Path) -> PathBuf {
    beside(path, ".damaged")
}

/// Moves the database and its companions aside and returns the new path.
pub(super) fn move_aside(path: &Path) -> Result<PathBuf, DatabaseError> {
    let target = aside(path);
    let moved = std::iter::once("").chain(COMPANIONS).try_for_each(|suffix| {
        match fs::rename(beside(path, suffix), beside(&target, suffix)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match fs::remove_file(beside(&target, suffix)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    Ok(()) | Err(_) => Ok(()),
                }
            }
            moved => moved,
        }
    });
    match moved {
        Ok(()) => Ok(target),
        Err(source) => Err(DatabaseError::Prepare { path: path.to_owned(), source }),
    }
}

/// Locks the replacement of a damaged database. Dropping the file releases the lock.
pub(super) fn lock_for_repair(path: &Path) -> Result<File, DatabaseError> {
    let lock = beside(path, ".lock");
    prepare(&lock)?;
    let locked = OpenOptions::new().write(true).open(&lock).and_then(|file| file.lock().map(|()| file));
    locked.map_err(|source| DatabaseError::Prepare { path: lock, source })
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Stores a path as bytes, because it may not be UTF-8.
#[cfg(unix)]
pub(super) fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(unix)]
pub(super) fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
pub(super) fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

#[cfg(not(unix))]
pub(super) fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
