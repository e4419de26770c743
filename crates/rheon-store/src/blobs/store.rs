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
use rustix::fs::{AtFlags, CWD, FlockOperation, Timespec, Timestamps, flock, utimensat};

/// The hash of a payload's content, which is also its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlobId(blake3::Hash);

/// A directory of payloads, named by content hash.
#[derive(Debug)]
pub struct Blobs {
    dir: PathBuf,
    bytes_max: u64,
    state: Mutex<State>,
    /// Held during a sync. A second one waits for it: what the first took over is safe only when it is done.
    syncing: Mutex<()>,
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
    fn mark_unsynced(&mut self, path: &Path) {
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
    /// Payloads in `dir`, which is created on first use, with a total size of at most `bytes_max`.
    pub fn new(dir: impl Into<PathBuf>, bytes_max: u64) -> Self {
        Self { dir: dir.into(), bytes_max, state: Mutex::default(), syncing: Mutex::default() }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
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
        if self.reuse(&path)? {
            // A process that was killed may have stored it without syncing its name.
            state.mark_unsynced(&path);
            return Ok(Some(id));
        }
        let bytes = *state.bytes.get_or_insert_with(|| count(&self.dir));
        let after = bytes.saturating_add(u64::try_from(content.len()).unwrap_or(u64::MAX));
        if after > self.bytes_max {
            return Ok(None);
        }
        let dir = path.parent().unwrap_or(&self.dir).to_owned();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let mut draft = tempfile::Builder::new()
            .prefix(".draft-")
            .permissions(fs::Permissions::from_mode(0o600))
            .tempfile_in(&dir)?;
        draft.write_all(content)?;
        match safe {
            Safe::AtOnce => draft.as_file().sync_data()?,
            Safe::Later => {
                state.unsynced.insert(path.clone());
            }
        }
        draft.persist(&path).map_err(|error| error.error)?;
        state.bytes = Some(after);
        state.mark_unsynced(&path);
        Ok(Some(id))
    }

    /// Whether the payload at `path` exists. It is young again then, so that no process removes it before the line that
    /// refers to it is written.
    fn reuse(&self, path: &Path) -> io::Result<bool> {
        if !path.exists() {
            return Ok(false);
        }
        let _lock = self.lock(FlockOperation::LockShared)?;
        let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        match utimensat(CWD, path, &Timestamps { last_access: now, last_modification: now }, AtFlags::empty())
        {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            // A payload of another user, or on a disk that is full, can still be read.
            Err(_) => Ok(path.exists()),
        }
    }

    /// Keeps other processes from removing payloads while one is taken into use, and the other way round.
    fn lock(&self, operation: FlockOperation) -> io::Result<File> {
        let file = File::open(&self.dir)?;
        flock(&file, operation)?;
        Ok(file)
    }

    /// Makes the next [`Self::sync`] cover these payloads, even if another process stored them.
    pub(crate) fn mark_unsynced(&self, ids: impl IntoIterator<Item = BlobId>) {
        let mut state = self.state();
        ids.into_iter().for_each(|id| state.mark_unsynced(&self.path(id)));
    }

    /// The total size of all payloads.
    pub(crate) fn bytes(&self) -> u64 {
        *self.state().bytes.get_or_insert_with(|| count(&self.dir))
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
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("blob {id} does not match its hash")))
        }
    }

    /// Syncs everything that was stored.
    pub fn sync(&self) -> io::Result<()> {
        let _syncing = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
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
            return Ok(rustix::fs::syncfs(File::open(&self.dir)?)?);
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
        if !self.dir.exists() {
            return Ok(0);
        }
        let _lock = self.lock(FlockOperation::LockExclusive)?;
        for BlobFile { path, id, bytes, modified_ms } in files(&self.dir) {
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
        self.dir.join(first).join(rest)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Payloads younger than this are never removed.
const YOUNG_MS: u64 = 60 * 60 * 1_000;

struct BlobFile {
    path: PathBuf,
    /// `None` for unfinished drafts.
    id: Option<BlobId>,
    bytes: u64,
    modified_ms: u64,
}

fn files(dir: &Path) -> impl Iterator<Item = BlobFile> {
    let dirs = fs::read_dir(dir).into_iter().flatten().flatten();
    let files = dirs.flat_map(|dir| fs::read_dir(dir.path()).into_iter().flatten().flatten());
    files.filter_map(|file| {
        let path = file.path();
        let first = path.parent()?.file_name()?.to_str()?;
        let id = BlobId::parse(&format!("{first}{}", file.file_name().to_str()?));
        let metadata = file.metadata().ok()?;
        let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let modified_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Some(BlobFile { path, id, bytes: metadata.len(), modified_ms })
    })
}

fn count(dir: &Path) -> u64 {
    files(dir).map(|file| file.bytes).sum()
}
