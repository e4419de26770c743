//! `Blobs`: the directory of large payloads.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use rheon_types::Timestamp;

/// The hash of a payload's content, which is also its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlobId(blake3::Hash);

/// A directory of payloads, named by content hash.
#[derive(Debug)]
pub struct Blobs {
    folder: PathBuf,
    bytes_max: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The total size, counted on first use.
    bytes: Option<u64>,
    /// Directories with unsynced names, and files with unsynced content.
    unsynced: HashSet<PathBuf>,
}

impl State {
    /// Marks the names that lead to `path` as unsynced: the file, its directory and the directory above.
    fn lean_on(&mut self, path: &Path) {
        self.unsynced.extend(path.ancestors().skip(1).take(3).map(Path::to_owned));
    }
}

/// When the content of a payload is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Safe {
    /// Before it gets its name.
    AtOnce,
    /// By [`Blobs::sync`].
    Later,
}

/// From this many entries on, one sync of the whole file system is cheaper than one per entry.
#[cfg(target_os = "linux")]
const UNSYNCED_MANY: usize = 64;

impl BlobId {
    /// The id of `content`.
    pub fn of(content: &[u8]) -> Self {
        Self(blake3::hash(content))
    }

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
    /// Payloads in `folder`, which is created on first use, with a total size of at most `bytes_max`.
    pub fn new(folder: impl Into<PathBuf>, bytes_max: u64) -> Self {
        Self { folder: folder.into(), bytes_max, state: Mutex::default() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stores `content`, or returns `None` if it exceeds the size limit. It survives a power cut after
    /// [`Self::sync`].
    pub fn put(&self, content: &[u8]) -> io::Result<Option<BlobId>> {
        self.keep(content, Safe::AtOnce)
    }

    /// Like [`Self::put`], for many payloads at once: until [`Self::sync`], a power cut can leave incomplete
    /// payloads. The caller has to remove those.
    pub(crate) fn put_unsynced(&self, content: &[u8]) -> io::Result<Option<BlobId>> {
        self.keep(content, Safe::Later)
    }

    fn keep(&self, content: &[u8], safe: Safe) -> io::Result<Option<BlobId>> {
        let id = BlobId::of(content);
        let path = self.path(id);
        let mut state = self.state();
        if path.exists() {
            // A process that was killed may have stored it without syncing its name.
            state.lean_on(&path);
            return Ok(Some(id));
        }
        let bytes = *state.bytes.get_or_insert_with(|| count(&self.folder));
        let after = bytes.saturating_add(u64::try_from(content.len()).unwrap_or(u64::MAX));
        if after > self.bytes_max {
            return Ok(None);
        }
        let folder = path.parent().unwrap_or(&self.folder).to_owned();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut draft = tempfile::Builder::new()
            .prefix(".draft-")
            .permissions(fs::Permissions::from_mode(0o600))
            .tempfile_in(&folder)?;
        draft.write_all(content)?;
        match safe {
            Safe::AtOnce => draft.as_file().sync_data()?,
            Safe::Later => {
                state.unsynced.insert(path.clone());
            }
        }
        draft.persist(&path).map_err(|error| error.error)?;
        state.bytes = Some(after);
        state.lean_on(&path);
        Ok(Some(id))
    }

    /// Makes the next [`Self::sync`] cover these payloads, even if another process stored them.
    pub(crate) fn lean_on(&self, ids: impl IntoIterator<Item = BlobId>) {
        let mut state = self.state();
        ids.into_iter().for_each(|id| state.lean_on(&self.path(id)));
    }

    /// The total size of all payloads.
    pub(crate) fn bytes(&self) -> u64 {
        *self.state().bytes.get_or_insert_with(|| count(&self.folder))
    }

    pub(crate) fn has(&self, id: BlobId) -> bool {
        self.path(id).exists()
    }

    /// Reads a payload. Fails if it is missing or does not match its hash.
    pub fn get(&self, id: BlobId) -> io::Result<Vec<u8>> {
        let content = fs::read(self.path(id))?;
        if BlobId::of(&content) == id {
            Ok(content)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("the content of blob {id} has changed")))
        }
    }

    /// Syncs everything that was stored.
    pub fn sync(&self) -> io::Result<()> {
        let unsynced = std::mem::take(&mut self.state().unsynced);
        let synced = self.sync_all(&unsynced);
        if synced.is_err() {
            self.state().unsynced.extend(unsynced);
        }
        synced
    }

    fn sync_all(&self, unsynced: &HashSet<PathBuf>) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if unsynced.len() >= UNSYNCED_MANY {
            return Ok(rustix::fs::syncfs(File::open(&self.folder)?)?);
        }
        unsynced.iter().try_for_each(|path| match File::open(path) {
            Ok(file) => file.sync_all(),
            // A file that was removed again needs no sync.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
    }

    /// Removes payloads that are not in `used` and are more than an hour older than `now`. Newer ones may belong to
    /// a line that is about to be written. Returns the number of bytes freed.
    pub fn retain(&self, used: &HashSet<BlobId>, now: Timestamp) -> io::Result<u64> {
        let mut state = self.state();
        let mut freed = 0;
        for Kept { path, id, bytes, modified_ms } in files(&self.folder) {
            let is_old = modified_ms.saturating_add(YOUNG_MS) <= now.as_millis();
            if is_old && !id.is_some_and(|id| used.contains(&id)) {
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

/// Payloads younger than this are never removed.
const YOUNG_MS: u64 = 60 * 60 * 1_000;

struct Kept {
    path: PathBuf,
    /// `None` for unfinished drafts.
    id: Option<BlobId>,
    bytes: u64,
    modified_ms: u64,
}

fn files(folder: &Path) -> impl Iterator<Item = Kept> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.filter_map(|file| {
        let path = file.path();
        let first = path.parent()?.file_name()?.to_str()?;
        let id = BlobId::parse(&format!("{first}{}", file.file_name().to_str()?));
        let metadata = file.metadata().ok()?;
        let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let modified_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Some(Kept { path, id, bytes: metadata.len(), modified_ms })
    })
}

fn count(folder: &Path) -> u64 {
    files(folder).map(|kept| kept.bytes).sum()
}
