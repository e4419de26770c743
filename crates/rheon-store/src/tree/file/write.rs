//! Replaces a file atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rheon_types::Timestamp;

use crate::directories;

/// The latest time that every file system supports, in the year 2242.
const MODIFIED_MS_MAX: u64 = (1 << 33) * 1_000;

#[derive(Debug)]
pub(super) enum WriteFault {
    TooLarge,
    Io(io::Error),
}

impl From<io::Error> for WriteFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Creates the directory and its parents, accessible only by the user. Existing ones stay unchanged.
pub(super) fn create_dir(dir: &Path) -> io::Result<()> {
    directories::create(dir, 1)
}

/// Replaces `target` with what `fill` writes, through `temporary` in the same directory, and sets its modification
/// time. Syncs before returning.
pub(super) fn replace(
    target: &Path,
    temporary: &Path,
    modified_at: Timestamp,
    bytes_max: u64,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteFault> {
    // A leftover of an interrupted save. We hold the lock.
    remove_if_exists(temporary)?;
    let written = write(temporary, modified_at, bytes_max, fill);
    if let Err(fault) = written.and_then(|()| Ok(fs::rename(temporary, target)?)) {
        // Report the first error. The next save removes the leftover.
        fs::remove_file(temporary).unwrap_or_default();
        return Err(fault);
    }
    match target.parent() {
        Some(dir) => Ok(sync_dir(dir)?),
        None => Ok(()),
    }
}

pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

pub(super) fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn write(
    path: &Path,
    modified_at: Timestamp,
    bytes_max: u64,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteFault> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let mut out = BufWriter::new(CappedFile { file, left: bytes_max, is_full: false });
    let filled = fill(&mut out).and_then(|()| out.flush());
    let capped = out.get_ref();
    match filled {
        Err(_) if capped.is_full => return Err(WriteFault::TooLarge),
        Err(error) => return Err(error.into()),
        Ok(()) => {}
    }
    let millis = modified_at.as_millis().min(MODIFIED_MS_MAX);
    capped.file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(millis))?;
    Ok(capped.file.sync_all()?)
}

/// A file with a size limit.
struct CappedFile {
    file: File,
    left: u64,
    is_full: bool,
}

impl Write for CappedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len() as u64;
        if length > self.left {
            self.is_full = true;
            return Err(io::Error::other("the file would be too large"));
        }
        let written = self.file.write(bytes)?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
