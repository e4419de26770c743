//! `TrustedContent`: files of a project that must hold what they held when it was trusted; and how such files are read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use blake3::Hash;

use crate::directory::{DirectoryEntry, DirectoryHandle, OnMissing};
use crate::trust::error::TrustError;

/// The largest file that can be trusted.
pub(crate) const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Files of a project and what they must hold.
#[derive(Debug, PartialEq)]
pub struct TrustedContent {
    /// The folder of the project.
    pub root: PathBuf,
    /// Without a hash where there was nothing: what appears there later was never looked at.
    pub(crate) files: Vec<(String, Option<Hash>)>,
}

impl TrustedContent {
    /// Whether every file still holds what it did; or which does not.
    pub fn check(&self) -> Result<(), String> {
        for (path, hash) in &self.files {
            let now = look(&self.root, Path::new(path)).map_err(|error| error.to_string())?;
            if now.hash() != *hash {
                return Err(format!(
                    "{path:?} is not what was trusted; look at it and trust the project again"
                ));
            }
        }
        Ok(())
    }
}

/// What stands under a path of a project.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// A folder of the project; where it really is, relative to the project.
    Folder(PathBuf),
    /// A file of the project; where it really is, and what it holds.
    File {
        real: PathBuf,
        bytes: Vec<u8>,
    },
    /// A link that leads here, out of the project. It is not followed.
    Outside(PathBuf),
}

impl Found {
    /// Whether it is a file with this text.
    pub(crate) fn holds(&self, text: &str) -> bool {
        match self {
            Self::File { bytes, .. } => bytes == text.as_bytes(),
            Self::Nothing | Self::Folder(_) | Self::Outside(_) => false,
        }
    }

    /// Stands for the place and the content together.
    pub(crate) fn hash(&self) -> Option<Hash> {
        let (kind, place, bytes) = match self {
            Self::Nothing => return None,
            Self::Folder(real) => (b"fold", real, [].as_slice()),
            Self::File { real, bytes } => (b"file", real, bytes.as_slice()),
            Self::Outside(target) => (b"link", target, [].as_slice()),
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(kind).update(place.as_os_str().as_encoded_bytes()).update(&[0]).update(bytes);
        Some(hasher.finalize())
    }
}

/// Looks at `path` of the project in `root`, which is written without links. A link is followed inside the project only, and
/// what is then opened is reached without any.
pub(crate) fn look(root: &Path, path: &Path) -> Result<Found, TrustError> {
    let unreadable = |error| TrustError::Unreadable { path: path.to_owned(), error };
    let real = match root.join(path).canonicalize() {
        Ok(real) => real,
        Err(error) if is_absence(&error) => return Ok(Found::Nothing),
        Err(error) => return Err(unreadable(error)),
    };
    let Ok(relative) = real.strip_prefix(root) else { return Ok(Found::Outside(real)) };
    let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
        return Ok(Found::Folder(relative.to_owned()));
    };
    let folder = DirectoryHandle::open(root, parent, OnMissing::Refuse).map_err(unreadable)?;
    match folder.entry(name).map_err(unreadable)? {
        DirectoryEntry::Absent => Ok(Found::Nothing),
        DirectoryEntry::Directory => Ok(Found::Folder(relative.to_owned())),
        DirectoryEntry::Other(kind) => Err(TrustError::untrustable(path, format!("is {kind}"))),
        DirectoryEntry::File(file) => {
            let bytes = read(file).map_err(unreadable)?;
            let bytes = bytes.ok_or_else(|| {
                TrustError::untrustable(path, format!("is larger than {FILE_BYTES_MAX} bytes"))
            })?;
            Ok(Found::File { real: relative.to_owned(), bytes })
        }
    }
}

/// Whether there is nothing, a link without a target included.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}

/// What a file holds, unless it is too large.
fn read(file: File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let count = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((count as u64 <= FILE_BYTES_MAX).then_some(bytes))
}
