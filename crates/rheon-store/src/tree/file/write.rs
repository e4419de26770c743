//! Replacing a file: the old one or the new one is there, never half of either.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rheon_types::Timestamp;

use crate::directories;

/// The last moment that every file system can keep: some time in 2242.
const MODIFIED_MS_MAX: u64 = (1 << 33) * 1_000;

/// Why a file was not replaced.
#[derive(Debug)]
pub(super) enum WriteFault {
    /// It would be too large.
    TooLarge,
    /// The disk refuses.
    Io(io::Error),
}

impl From<io::Error> for WriteFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Makes the folder and those above it, for the user alone. One that exists stays as it is.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    directories::create(folder, 1)
}

/// Puts what `fill` writes in the place of `target`, by way of `temporary` in the same folder. The file is dated
/// `modified_at`. Returns once a power cut cannot undo it.
pub(super) fn replace(
    target: &Path,
    temporary: &Path,
    modified_at: Timestamp,
    bytes_max: u64,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteFault> {
    // What a save that was cut off has left; whoever writes here has the lock.
    remove_if_there(temporary)?;
    let written = write(temporary, modified_at, bytes_max, fill);
    if let Err(fault) = written.and_then(|()| Ok(fs::rename(temporary, target)?)) {
        // The first fault is the one to tell; what is left behind is removed by the next save.
        fs::remove_file(temporary).unwrap_or_default();
        return Err(fault);
    }
    match target.parent() {
        Some(folder) => Ok(sync_folder(folder)?),
        None => Ok(()),
    }
}

/// Makes the names in a folder last.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Removes the file, if there is one.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
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
    let mut out = BufWriter::new(Capped { file, left: bytes_max, is_full: false });
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

/// A file that takes so many bytes and no more.
struct Capped {
    file: File,
    left: u64,
    is_full: bool,
}

impl Write for Capped {
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
