//! Large payloads by content, beside the journals: a text that is stored twice is there once.

mod externalise;

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use externalise::{externalise, internalise};

/// The name of a payload: the hash of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlobId(blake3::Hash);

/// Payloads by content, in a folder.
#[derive(Debug)]
pub struct Blobs {
    folder: PathBuf,
    bytes_max: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How much is in the folder; counted when it is first needed.
    bytes: Option<u64>,
    /// Folders with names that a power cut could lose. What is in the files is safe already.
    unsynced: HashSet<PathBuf>,
}

impl BlobId {
    /// The name of `content`.
    pub fn of(content: &[u8]) -> Self {
        Self(blake3::hash(content))
    }

    /// The name that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(Self)
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl Blobs {
    /// Payloads in `folder`, which is made when it is first needed, of at most `bytes_max` together.
    pub fn new(folder: impl Into<PathBuf>, bytes_max: u64) -> Self {
        Self { folder: folder.into(), bytes_max, state: Mutex::default() }
    }

    /// Keeps `content`; nothing if that would be too much. Safe against a power cut after [`Self::sync`].
    pub fn put(&self, content: &[u8]) -> io::Result<Option<BlobId>> {
        let id = BlobId::of(content);
        let path = self.path(id);
        let mut state = self.state();
        if path.exists() {
            return Ok(Some(id));
        }
        let bytes = match state.bytes {
            Some(bytes) => bytes,
            None => count(&self.folder),
        };
        let after = bytes.saturating_add(u64::try_from(content.len()).unwrap_or(u64::MAX));
        if after > self.bytes_max {
            state.bytes = Some(bytes);
            return Ok(None);
        }
        let folder = path.parent().unwrap_or(&self.folder).to_owned();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut draft = tempfile::Builder::new()
            .prefix(".draft-")
            .permissions(fs::Permissions::from_mode(0o600))
            .tempfile_in(&folder)?;
        draft.write_all(content)?;
        draft.as_file().sync_data()?;
        draft.persist(&path).map_err(|error| error.error)?;
        state.bytes = Some(after);
        state.unsynced.insert(folder);
        state.unsynced.insert(self.folder.clone());
        Ok(Some(id))
    }

    /// The content of `id`; an error if it is gone or is not what was kept.
    pub fn get(&self, id: BlobId) -> io::Result<Vec<u8>> {
        let content = fs::read(self.path(id))?;
        if BlobId::of(&content) == id {
            Ok(content)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("the content of blob {id} has changed")))
        }
    }

    /// Returns once a power cut cannot lose what was put.
    pub fn sync(&self) -> io::Result<()> {
        let folders = std::mem::take(&mut self.state().unsynced);
        for folder in &folders {
            if let Err(error) = File::open(folder).and_then(|folder| folder.sync_all()) {
                self.state().unsynced.extend(folders);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Removes all that is not in `used`. Returns how many bytes were freed.
    pub fn retain(&self, used: &HashSet<BlobId>) -> io::Result<u64> {
        let mut state = self.state();
        let mut freed = 0;
        for (path, id, bytes) in files(&self.folder) {
            if !id.is_some_and(|id| used.contains(&id)) {
                fs::remove_file(&path)?;
                freed += bytes;
            }
        }
        state.bytes = None;
        Ok(freed)
    }

    fn path(&self, id: BlobId) -> PathBuf {
        let name = id.to_string();
        let (first, rest) = name.split_at_checked(2).unwrap_or(("", &name));
        self.folder.join(first).join(rest)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All files in the folder, with their names and sizes. Drafts that nobody finished have no name.
fn files(folder: &Path) -> impl Iterator<Item = (PathBuf, Option<BlobId>, u64)> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.filter_map(|file| {
        let path = file.path();
        let first = path.parent()?.file_name()?.to_str()?;
        let id = BlobId::parse(&format!("{first}{}", file.file_name().to_str()?));
        Some((path, id, file.metadata().ok()?.len()))
    })
}

fn count(folder: &Path) -> u64 {
    files(folder).map(|(_, _, bytes)| bytes).sum()
}

#[cfg(test)]
mod blobs_tests;
