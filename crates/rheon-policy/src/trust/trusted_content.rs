//! `TrustedContent`: project files that must be unchanged since they were trusted, and how to read them.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use blake3::Hash;

use crate::directory::{DirectoryEntry, DirectoryHandle, OnMissing};
use crate::trust::error::TrustError;
use crate::trust::tree::tree_hash;

pub(crate) const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Project files and the content they must have.
#[derive(Debug, PartialEq)]
pub struct TrustedContent {
    pub root: PathBuf,
    /// `None` if the file did not exist. A file that appears there later was never reviewed.
    pub(crate) files: Vec<(String, Option<Hash>)>,
    pub(crate) project: ProjectState,
}

/// What the rest of the project must be like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ProjectState {
    Any,
    /// As it was when it was trusted. `None` if that is not known, so that nothing is like it.
    Unchanged(Option<Hash>),
}

impl TrustedContent {
    /// Checks that every file is unchanged, or says which one is not.
    pub fn check(&self) -> Result<(), String> {
        for (path, hash) in &self.files {
            let now = look(&self.root, Path::new(path)).map_err(|error| error.to_string())?;
            if now.hash() != *hash {
                return Err(format!(
                    "{path:?} changed since it was trusted; review it and trust the project again"
                ));
            }
        }
        match self.project {
            ProjectState::Any => Ok(()),
            ProjectState::Unchanged(Some(hash)) if tree_hash(&self.root) == Some(hash) => Ok(()),
            ProjectState::Unchanged(_) => Err(
                "it would run outside the sandbox (\"sandbox\": false), and the project changed since it was trusted or is \
                 too large to tell; review the changes and trust the project again, remove \"sandbox\", or put the hook \
                 into your own settings"
                    .to_owned(),
            ),
        }
    }
}

/// What exists at a path of a project.
#[derive(Debug)]
pub(crate) enum ProjectEntry {
    Missing,
    /// A directory, by its resolved path relative to the project.
    Directory(PathBuf),
    /// A file, by its resolved path, with its content.
    File {
        real: PathBuf,
        bytes: Vec<u8>,
    },
    /// A symlink that leads out of the project. It is not followed.
    Outside(PathBuf),
}

impl ProjectEntry {
    /// Whether it is a file with this text.
    pub(crate) fn holds(&self, text: &str) -> bool {
        match self {
            Self::File { bytes, .. } => bytes == text.as_bytes(),
            Self::Missing | Self::Directory(_) | Self::Outside(_) => false,
        }
    }

    /// A hash of the resolved path and the content.
    pub(crate) fn hash(&self) -> Option<Hash> {
        let (kind, place, bytes) = match self {
            Self::Missing => return None,
            Self::Directory(real) => (b"fold", real, [].as_slice()),
            Self::File { real, bytes } => (b"file", real, bytes.as_slice()),
            Self::Outside(target) => (b"link", target, [].as_slice()),
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(kind).update(place.as_os_str().as_encoded_bytes()).update(&[0]).update(bytes);
        Some(hasher.finalize())
    }
}

/// Reads `path` in the project at `root`, which must not contain symlinks. Symlinks are resolved inside the project
/// only, and the result is then opened without following any.
pub(crate) fn look(root: &Path, path: &Path) -> Result<ProjectEntry, TrustError> {
    let unreadable = |error| TrustError::Unreadable { path: path.to_owned(), error };
    let real = match root.join(path).canonicalize() {
        Ok(real) => real,
        Err(error) if is_absence(&error) => return Ok(ProjectEntry::Missing),
        Err(error) => return Err(unreadable(error)),
    };
    let Ok(relative) = real.strip_prefix(root) else { return Ok(ProjectEntry::Outside(real)) };
    let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
        return Ok(ProjectEntry::Directory(relative.to_owned()));
    };
    let dir = DirectoryHandle::open(root, parent, OnMissing::Refuse).map_err(unreadable)?;
    match dir.entry(name).map_err(unreadable)? {
        DirectoryEntry::Absent => Ok(ProjectEntry::Missing),
        DirectoryEntry::Directory => Ok(ProjectEntry::Directory(relative.to_owned())),
        DirectoryEntry::Other(kind) => Err(TrustError::untrustable(path, format!("is {kind}"))),
        DirectoryEntry::File(file) => {
            let bytes = read(file).map_err(unreadable)?;
            let bytes = bytes.ok_or_else(|| {
                TrustError::untrustable(path, format!("is larger than {FILE_BYTES_MAX} bytes"))
            })?;
            Ok(ProjectEntry::File { real: relative.to_owned(), bytes })
        }
    }
}

/// Whether the path does not exist; a dangling symlink counts.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}

/// Reads a file, unless it is too large.
fn read(file: File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let count = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((count as u64 <= FILE_BYTES_MAX).then_some(bytes))
}
