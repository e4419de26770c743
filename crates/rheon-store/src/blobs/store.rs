//! `Blobs`: the folder of large payloads.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use rheon_types::Timestamp;

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
    /// Folders with names that a power cut could lose, and files with content that it could.
    unsynced: HashSet<PathBuf>,
}

impl State {
    /// The names that lead to `path` are to be made safe: its own, that of its folder, and that of the folder of all.
    fn lean_on(&mut self, path: &Path) {
        self.unsynced.extend(path.ancestors().skip(1).take(3).map(Path::to_owned));
    }
}

/// When the content of a payload is made safe against a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Safe {
    /// Before its name is there.
    AtOnce,
    /// By [`Blobs::sync`].
    Later,
}

/// From how many files and folders on one request for the whole file system is cheaper than one for each.
#[cfg(target_os = "linux")]
const UNSYNCED_MANY: usize = 64;

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

    /// Where they are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps `content`; nothing if that would be too much. Safe against a power cut after [`Self::sync`].
    pub fn put(&self, content: &[u8]) -> io::Result<Option<BlobId>> {
        self.keep(content, Safe::AtOnce)
    }

    /// As [`Self::put`], for many at once: until [`Self::sync`] a power cut can leave a payload that is not whole. Who uses
    /// this removes such payloads afterwards.
    pub(crate) fn put_unsynced(&self, content: &[u8]) -> io::Result<Option<BlobId>> {
        self.keep(content, Safe::Later)
    }

    fn keep(&self, content: &[u8], safe: Safe) -> io::Result<Option<BlobId>> {
        let id = BlobId::of(content);
        let path = self.path(id);
        let mut state = self.state();
        if path.exists() {
            // A process may have kept it that was killed before its name was safe.
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

    /// From the next [`Self::sync`] on a power cut cannot lose these, whoever has put them.
    pub(crate) fn lean_on(&self, ids: impl IntoIterator<Item = BlobId>) {
        let mut state = self.state();
        ids.into_iter().for_each(|id| state.lean_on(&self.path(id)));
    }

    /// How much is kept.
    pub(crate) fn bytes(&self) -> u64 {
        *self.state().bytes.get_or_insert_with(|| count(&self.folder))
    }

    /// Whether there is a payload of this name.
    pub(crate) fn has(&self, id: BlobId) -> bool {
        self.path(id).exists()
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
            // What was removed again need not be safe.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
    }

    /// Removes all that is not in `used` and was there an hour before `now`: what is newer may belong to a line that is
    /// about to be written. Returns how many bytes were freed.
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

/// How long a payload is left alone whether it is used or not.
const YOUNG_MS: u64 = 60 * 60 * 1_000;

/// A file in the folder.
struct Kept {
    path: PathBuf,
    /// Drafts that nobody finished have none.
    id: Option<BlobId>,
    bytes: u64,
    modified_ms: u64,
}

/// All files in the folder.
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
