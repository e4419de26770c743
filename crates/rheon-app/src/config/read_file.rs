//! Reads a file of settings: bounded, only if it is a regular file, and for a project only from within it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The largest file that is read.
pub(super) const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Where a file may really be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reach<'a> {
    /// Anywhere: the user keeps settings where they like.
    Anywhere,
    /// In this directory; links that lead out of it are not followed.
    Within(&'a Path),
}

/// The content of the file; none if it does not exist. The error includes the next step.
pub(super) fn read(path: &Path, reach: Reach<'_>) -> Result<Option<String>, String> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if is_absence(&error) && !path.is_symlink() => return Ok(None),
        Err(error) => return Err(format!("{error}; fix or remove it")),
    };
    if let Reach::Within(root) = reach {
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        if !real.starts_with(&root) {
            return Err("it is a symlink out of the project; replace it with the file".to_owned());
        }
    }
    let found = match fs::metadata(&real) {
        Ok(found) => found,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if matches!(reach, Reach::Within(_)) && found.is_dir() && holds_nothing(&real) {
        return Ok(None);
    }
    // Opening a pipe could block forever.
    if !found.is_file() {
        return Err("not a regular file; replace or remove it".to_owned());
    }
    let unreadable = |error: io::Error| format!("{error}; make it readable or remove it");
    let mut bytes = Vec::new();
    File::open(&real)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes; make it smaller"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(format!("line {line} is not UTF-8; save the file as UTF-8"))
        }
    }
}

/// Whether the directory is empty. The sandbox of another agent puts such a directory where no file may come to be, and one that
/// is killed leaves it there.
fn holds_nothing(directory: &Path) -> bool {
    match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => is_absence(&error),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether others than its owner may read it.
pub(super) fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}
