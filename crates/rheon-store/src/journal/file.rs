//! The file of a journal: created atomically, locked while open for writing, truncated where it is damaged.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::error::JournalError;
use super::header::Lease;
use super::scan::{Damage, scan};
use crate::directories;

/// Only the owner can read journals.
const FILE_MODE: u32 = 0o600;

/// The project's directory, the directory of all projects, and the root of all sessions.
const OWN_DIRS: usize = 3;

/// How many damaged copies one journal may have.
const DAMAGED_COPIES_MAX: u32 = 1_000;

/// Creates the directory of a journal and syncs the names that lead to it.
fn create_dir(dir: &Path) -> Result<(), JournalError> {
    directories::create(dir, OWN_DIRS).map_err(JournalError::io("create the directory", dir))
}

/// Syncs the names that lead to a journal. The process that created it may have been killed before doing so.
pub(crate) fn secure(path: &Path) -> Result<(), JournalError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    create_dir(dir)?;
    sync_dir(dir).map_err(JournalError::io("sync", dir))
}

/// Creates a locked file at `path` with this content, atomically.
pub(crate) fn create(path: &Path, content: &[u8]) -> Result<File, JournalError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    create_dir(dir)?;
    let failed = |source| JournalError::Io { action: "create", path: path.to_owned(), source };
    let mut draft = tempfile::Builder::new()
        .prefix(".draft-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(FILE_MODE))
        .append(true)
        .tempfile_in(dir)
        .map_err(failed)?;
    draft.write_all(content).map_err(failed)?;
    draft.as_file().sync_all().map_err(failed)?;
    // Lock the draft before it gets its name, so that no other process can lock it first.
    lock(draft.as_file()).map_err(|error| JournalError::io("lock", path)(error.into()))?;
    let file = draft.persist_noclobber(path).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => JournalError::Exists { path: path.to_owned() },
        _ => failed(error.error),
    })?;
    sync_dir(dir).map_err(JournalError::io("sync", dir))?;
    Ok(file)
}

/// How often to try again while a process that has ended still holds the lock, and how long to wait in between.
const DEAD_TRIES_MAX: u32 = 120;
const DEAD_WAIT: Duration = Duration::from_millis(25);

/// Opens the file at `path` for writing and locks it. Fails if another process holds the lock. What is left of a process that
/// was killed, such as a child that is still ending, releases it soon, so that is worth waiting for.
pub(crate) fn open_locked(path: &Path) -> Result<File, JournalError> {
    let mut tries = 0;
    open_waiting(path, || {
        tries += 1;
        std::thread::sleep(DEAD_WAIT);
        tries < DEAD_TRIES_MAX
    })
}

/// The same with another way to wait: `wait` returns whether to try again.
pub(crate) fn open_waiting(path: &Path, mut wait: impl FnMut() -> bool) -> Result<File, JournalError> {
    let options = OpenOptions::new().read(true).append(true).mode(FILE_MODE).open(path);
    let file = options.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => JournalError::Missing { path: path.to_owned() },
        _ => JournalError::Io { action: "open", path: path.to_owned(), source },
    })?;
    loop {
        match lock(&file) {
            Ok(()) => return Ok(file),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => {
                if !(is_held_by_the_dead(path, &file) && wait()) {
                    return Err(JournalError::InUse { path: path.to_owned(), holder: holder(path, &file) });
                }
            }
            Err(error) => {
                return Err(JournalError::Io { action: "lock", path: path.to_owned(), source: error.into() });
            }
        }
    }
}

/// Whether the process that last opened the journal has ended.
fn is_held_by_the_dead(path: &Path, file: &File) -> bool {
    let lease = lease(path, file);
    let host = rustix::system::uname();
    let is_here =
        |lease: &Lease| lease.host.as_deref().is_some_and(|name| host.nodename().to_str() == Ok(name));
    lease.is_some_and(|lease| is_here(&lease) && lease.pid != std::process::id() && has_ended(lease.pid))
}

/// Whether a process of this machine has ended, or is only waiting to be noticed by its parent.
fn has_ended(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return Path::new("/proc/self/stat").exists();
    };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('Z' | 'X'))
}

pub(crate) fn open_to_read(path: &Path) -> Result<File, JournalError> {
    File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => JournalError::Missing { path: path.to_owned() },
        _ => JournalError::Io { action: "open", path: path.to_owned(), source },
    })
}

/// The kernel releases the lock when the holder exits, however it exits.
fn lock(file: &File) -> Result<(), rustix::io::Errno> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Releases the lock, even if a child process still has the file open.
pub(crate) fn unlock(file: &File) {
    // If unlocking fails, closing the file releases the lock.
    flock(file, FlockOperation::Unlock).ok();
}

/// The last lease in the journal. The file is read from its start afterwards, too.
fn lease(path: &Path, mut file: &File) -> Option<Lease> {
    let found = scan(path, file, |_| Ok(())).ok().and_then(|scan| scan.lease);
    file.rewind().ok()?;
    found
}

/// The process that last opened the journal, according to its lease.
fn holder(path: &Path, file: &File) -> String {
    match lease(path, file) {
        Some(lease) => match lease.host {
            Some(host) => format!("process {} on {host}", lease.pid),
            None => format!("process {}", lease.pid),
        },
        None => "another process".into(),
    }
}

/// Cuts off the damaged end of a journal after copying it to a file beside the journal. Returns the path of the
/// copy.
pub(crate) fn cut_damage(path: &Path, file: &File, damage: &Damage) -> Result<PathBuf, JournalError> {
    let failed = |action| move |source| JournalError::Io { action, path: path.to_owned(), source };
    let mut rest = Vec::new();
    let mut reader = file;
    reader.seek(SeekFrom::Start(damage.offset)).map_err(failed("read"))?;
    reader.read_to_end(&mut rest).map_err(failed("read"))?;
    let (damaged_copy, mut copy) = damaged_copy(path)?;
    copy.write_all(&rest).map_err(JournalError::io("write", &damaged_copy))?;
    copy.sync_all().map_err(JournalError::io("sync", &damaged_copy))?;
    let dir = path.parent().unwrap_or(Path::new("."));
    sync_dir(dir).map_err(JournalError::io("sync", dir))?;
    file.set_len(damage.offset).map_err(failed("repair"))?;
    file.sync_all().map_err(failed("sync"))?;
    Ok(damaged_copy)
}

/// The files beside the journal at `path` with bytes that were cut off.
pub(crate) fn damaged_copies(path: &Path) -> Vec<PathBuf> {
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".cut-{number}"));
        PathBuf::from(name)
    };
    (1..=DAMAGED_COPIES_MAX).map(named).filter(|copy| copy.symlink_metadata().is_ok()).collect()
}

/// Creates a file beside the journal for the bytes that are cut off.
fn damaged_copy(path: &Path) -> Result<(PathBuf, File), JournalError> {
    let mut last = None;
    for number in 1..=DAMAGED_COPIES_MAX {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".cut-{number}"));
        let damaged_copy = PathBuf::from(name);
        match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&damaged_copy) {
            Ok(file) => return Ok((damaged_copy, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some((damaged_copy, error)),
            Err(source) => return Err(JournalError::Io { action: "create", path: damaged_copy, source }),
        }
    }
    let (path, source) =
        last.unwrap_or_else(|| (path.to_owned(), io::Error::other("too many damaged copies")));
    Err(JournalError::Io { action: "create", path, source })
}

pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
