//! `Catalog`: all checkpoints of a workspace on disk, one small file each, and the payloads they share.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use rheon_types::Timestamp;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::blobs::{BlobId, Blobs};
use crate::directories;

use super::error::CheckpointError;
use super::id::{CHECKPOINT_VERSION, CheckpointId, CheckpointMoment};
use super::limits::CheckpointLimits;
use super::manifest::{Entry, Manifest};
use super::path::{decode, encode};
use super::probe::{Io, Probe};

const LABEL_CHARS_MAX: usize = 200;

/// Waits for the lock for up to a minute.
const LOCK_ATTEMPTS_MAX: u32 = 6_000;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Every payload is older than this. The lock guarantees that unused payloads are not about to be used, so their age
/// does not matter.
const END_OF_TIME: Timestamp = Timestamp::from_millis(u64::MAX);

/// A checkpoint as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    root: String,
    pub(super) moment: CheckpointMoment,
    /// When the capture started, by the clock of the file system.
    pub(super) began_ns: i64,
    pub(super) files: usize,
    parts: Vec<Part>,
}

/// One of the lists of a manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Part {
    blob: String,
    bytes: u64,
}

/// Parsed first, to recognize later versions.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Debug)]
pub(super) struct Catalog {
    dir: PathBuf,
    root: PathBuf,
    blobs: Blobs,
    limits: CheckpointLimits,
    probe: Probe,
    /// Whether the current capture found that pruning frees no more space.
    is_full: AtomicBool,
    /// Whether the mark of the current capture is synced.
    is_mark_safe: AtomicBool,
}

/// While it exists, no other process captures, restores or removes.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Manifests whose payloads must stay even if no stored checkpoint uses them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needed<'a> {
    /// The files being captured.
    pub(super) current: &'a Manifest,
    /// The files to be restored afterwards.
    pub(super) besides: Option<&'a Manifest>,
}

/// A checkpoint that is about to be stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draft<'a> {
    pub(super) moment: &'a CheckpointMoment,
    pub(super) began_ns: i64,
    pub(super) needed: Needed<'a>,
}

/// How many checkpoints to keep, and how much space they may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct PruneLimits {
    pub(super) checkpoints_max: usize,
    pub(super) bytes_max: u64,
}

impl Catalog {
    pub(super) fn new(dir: &Path, root: &Path, limits: &CheckpointLimits, probe: &Probe) -> Self {
        Self {
            dir: dir.to_owned(),
            root: root.to_owned(),
            blobs: Blobs::new(dir.join("blobs"), limits.bytes_max),
            limits: limits.clone(),
            probe: probe.clone(),
            is_full: AtomicBool::new(false),
            is_mark_safe: AtomicBool::new(false),
        }
    }

    /// Waits for other processes that capture, restore or remove, up to a limit. The kernel releases the lock when
    /// its holder exits.
    pub(super) fn lock(&self, stop: &AtomicBool) -> Result<Lock, CheckpointError> {
        let path = self.dir.join("lock");
        directories::create(&self.list(), 0)
            .map_err(CheckpointError::io("create the directory", &self.list()))?;
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let file = opened.map_err(CheckpointError::io("open", &path))?;
        for _ in 0..LOCK_ATTEMPTS_MAX {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(Errno::WOULDBLOCK | Errno::INTR) if stop.load(Ordering::Relaxed) => {
                    return Err(CheckpointError::Stopped);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(LOCK_PAUSE),
                Err(error) => return Err(CheckpointError::io("lock", &path)(error.into())),
            }
        }
        Err(CheckpointError::InUse { path })
    }

    /// Marks the start of a capture and returns the time of the file system. Removes leftovers of an interrupted
    /// capture, which may be incomplete.
    pub(super) fn begin(&self, _lock: &Lock) -> Result<i64, CheckpointError> {
        let path = self.mark();
        let failed = || CheckpointError::io("write", &path);
        if path.exists() {
            // A killed capture may have named its checkpoint without making the name safe. The next capture returns that
            // checkpoint if nothing changed since.
            sync_dir(&self.list()).map_err(CheckpointError::io("sync", &self.list()))?;
            self.sweep(&self.ids()?, None)?;
        }
        self.is_full.store(false, Ordering::Relaxed);
        self.is_mark_safe.store(false, Ordering::Relaxed);
        let marked = (|| {
            self.probe.before(Io::Mark, &path)?;
            let file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path)?;
            (&file).write_all(b"a capture is in progress\n")?;
            file.metadata()
        })();
        let metadata = marked.map_err(failed())?;
        match self.probe.now {
            None => Ok(metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec())),
            Some(now) => {
                let since = now.duration_since(UNIX_EPOCH).map_err(|e| failed()(io::Error::other(e)))?;
                Ok(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
            }
        }
    }

    /// Syncs the mark before storing payloads that a power cut could leave incomplete. A capture that finds nothing
    /// new skips this.
    fn secure_mark(&self) -> io::Result<()> {
        if self.is_mark_safe.load(Ordering::Relaxed) {
            return Ok(());
        }
        match File::open(self.mark()) {
            Ok(file) => file.sync_all()?,
            // There is no mark outside of a capture.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
        sync_dir(&self.dir)?;
        self.dir.parent().map_or(Ok(()), directories::sync)?;
        self.is_mark_safe.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Stores the content of a file, pruning old checkpoints if needed. Returns `None` if it does not fit. Payloads
    /// in `needed` stay. The second value is the number of new bytes.
    pub(super) fn put(
        &self,
        content: &[u8],
        needed: &Needed<'_>,
    ) -> Result<Option<(BlobId, u64)>, CheckpointError> {
        // The rest is reserved for the lists of paths. Content is useless without them.
        self.put_within(self.limits.bytes_max / 8 * 7, content, needed)
    }

    fn put_within(
        &self,
        bytes_max: u64,
        content: &[u8],
        needed: &Needed<'_>,
    ) -> Result<Option<(BlobId, u64)>, CheckpointError> {
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let id = BlobId::of(content);
        if self.blobs.has(id) {
            return Ok(Some((id, 0)));
        }
        let put = || {
            if self.blobs.bytes().saturating_add(bytes) > bytes_max {
                return Ok(None);
            }
            let ready = self.secure_mark().and_then(|()| self.probe.before(Io::Put, &self.dir));
            let put = ready.and_then(|()| self.blobs.put_unsynced(content));
            put.map_err(CheckpointError::io("store a file in", &self.dir))
        };
        if let Some(id) = put()? {
            return Ok(Some((id, bytes)));
        }
        if self.is_full.load(Ordering::Relaxed) {
            return Ok(None);
        }
        // Free more than needed, so that not every file triggers this.
        let target = (bytes_max / 4 * 3).min(bytes_max.saturating_sub(bytes));
        let keep = PruneLimits { checkpoints_max: usize::MAX, bytes_max: target };
        if self.keep_newest(keep, Some(needed))?.0 == 0 {
            self.is_full.store(true, Ordering::Relaxed);
            // Only leftovers of abandoned captures remain to be removed.
            self.sweep(&self.ids()?, Some(needed))?;
        }
        Ok(put()?.map(|id| (id, bytes)))
    }

    /// Stores the checkpoint `draft` atomically. Its payloads are already stored.
    pub(super) fn commit(&self, lock: &Lock, draft: &Draft<'_>) -> Result<CheckpointId, CheckpointError> {
        let Draft { moment, began_ns, needed } = *draft;
        let manifest = needed.current;
        let unwritten = |e: serde_json::Error| CheckpointError::io("write", &self.dir)(e.into());
        let lists = manifest.parts().map_err(unwritten)?;
        let mut parts = self.put_parts(&lists, &needed)?;
        if !self.has_all(&parts) {
            // Freeing space for a later list removed an earlier one, which nothing referred to yet.
            parts = self.put_parts(&lists, &needed)?;
        }
        if !self.has_all(&parts) {
            return Err(CheckpointError::NoRoom { bytes_max: self.limits.bytes_max });
        }
        let synced = self.probe.before(Io::Sync, &self.dir).and_then(|()| self.blobs.sync());
        synced.map_err(CheckpointError::io("sync", &self.dir))?;
        let moment = CheckpointMoment {
            label: moment.label.chars().take(LABEL_CHARS_MAX).collect(),
            ..moment.clone()
        };
        let record = Record {
            version: CHECKPOINT_VERSION,
            root: encode(self.root.as_os_str()),
            moment,
            began_ns,
            files: manifest.entries.len(),
            parts,
        };
        let content = serde_json::to_vec(&record).map_err(unwritten)?;
        let ids = self.ids()?;
        let number = ids.last().map_or(0, CheckpointId::number).saturating_add(1);
        let id = CheckpointId::new(number, &content);
        let path = self.list().join(id.as_str());
        self.write(&path, &content).map_err(CheckpointError::io("write", &path))?;
        self.end(lock)?;
        if ids.len() >= self.limits.checkpoints_max {
            // Remove more than needed, so that not every capture triggers this.
            let checkpoints_max = (self.limits.checkpoints_max / 10 * 9).max(1);
            self.keep_newest(
                PruneLimits { checkpoints_max, bytes_max: self.limits.bytes_max },
                Some(&needed),
            )?;
        }
        Ok(id)
    }

    fn put_parts(&self, lists: &[Vec<u8>], needed: &Needed<'_>) -> Result<Vec<Part>, CheckpointError> {
        let bytes_max = self.limits.bytes_max;
        let parts = lists.iter().map(|list| {
            let (blob, _) =
                self.put_within(bytes_max, list, needed)?.ok_or(CheckpointError::NoRoom { bytes_max })?;
            Ok(Part { blob: blob.to_string(), bytes: u64::try_from(list.len()).unwrap_or(u64::MAX) })
        });
        parts.collect()
    }

    fn has_all(&self, parts: &[Part]) -> bool {
        parts.iter().all(|part| BlobId::parse(&part.blob).is_some_and(|blob| self.blobs.has(blob)))
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.probe.before(Io::Commit, path)?;
        let mut draft = tempfile::Builder::new()
            .prefix(".draft-")
            .permissions(fs::Permissions::from_mode(0o600))
            .tempfile_in(self.list())?;
        draft.write_all(content)?;
        draft.as_file().sync_all()?;
        draft.persist(path).map_err(|error| error.error)?;
        sync_dir(&self.list())
    }

    /// Ends an abandoned capture. Its payloads stay for the next one, which then has less to write.
    pub(super) fn abandon(&self, lock: &Lock) -> Result<(), CheckpointError> {
        self.blobs.sync().map_err(CheckpointError::io("sync", &self.dir))?;
        self.end(lock)
    }

    /// Ends a capture that stored nothing a power cut could damage.
    pub(super) fn end(&self, _lock: &Lock) -> Result<(), CheckpointError> {
        let path = self.mark();
        let removed = self.probe.before(Io::Unmark, &path).and_then(|()| fs::remove_file(&path));
        removed.map_err(CheckpointError::io("remove", &path))
    }

    /// All checkpoints, oldest first.
    pub(super) fn ids(&self) -> Result<Vec<CheckpointId>, CheckpointError> {
        let files = match fs::read_dir(self.list()) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(CheckpointError::io("list", &self.list())(error)),
        };
        let names = files.flatten().filter_map(|file| CheckpointId::parse(file.file_name().to_str()?));
        let mut ids: Vec<_> = names.collect();
        ids.sort();
        Ok(ids)
    }

    fn any_record(&self, id: &CheckpointId) -> Result<Record, CheckpointError> {
        let damaged = |problem: String| CheckpointError::Damaged { id: id.clone(), problem };
        let path = self.list().join(id.as_str());
        let content = fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => CheckpointError::Missing { id: id.clone() },
            _ => CheckpointError::Io { action: "read", path, source },
        })?;
        if !id.is_of(&content) {
            return Err(damaged("its record does not match its id".into()));
        }
        let Version { version } = serde_json::from_slice(&content).map_err(|e| damaged(e.to_string()))?;
        if version > CHECKPOINT_VERSION {
            return Err(CheckpointError::Newer { id: id.clone(), version });
        }
        serde_json::from_slice(&content).map_err(|e| damaged(e.to_string()))
    }

    /// The record of a checkpoint of this workspace.
    pub(super) fn record(&self, id: &CheckpointId) -> Result<Record, CheckpointError> {
        let record = self.any_record(id)?;
        if record.root != encode(self.root.as_os_str()) {
            let root = decode(&record.root).unwrap_or_default().into();
            return Err(CheckpointError::OtherRoot { id: id.clone(), root });
        }
        Ok(record)
    }

    pub(super) fn manifest(&self, id: &CheckpointId, record: &Record) -> Result<Manifest, CheckpointError> {
        let damaged = |problem: String| CheckpointError::Damaged { id: id.clone(), problem };
        let mut manifest = Manifest::default();
        for part in &record.parts {
            let blob =
                BlobId::parse(&part.blob).ok_or_else(|| damaged("it has an invalid list id".into()))?;
            let content = self.blobs.get(blob).map_err(|e| damaged(e.to_string()))?;
            manifest.add_part(&content).map_err(damaged)?;
        }
        Ok(manifest)
    }

    pub(super) fn content(&self, blob: BlobId) -> io::Result<Vec<u8>> {
        self.blobs.get(blob)
    }

    /// Keeps the newest checkpoints that fit, but at least one. Returns the number of removed checkpoints and freed
    /// bytes.
    pub(super) fn keep_newest(
        &self,
        keep: PruneLimits,
        needed: Option<&Needed<'_>>,
    ) -> Result<(usize, u64), CheckpointError> {
        let ids = self.ids()?;
        let mut uses = Uses::new(self, needed);
        let mut kept = 0;
        for id in ids.iter().rev() {
            uses.add(id)?;
            if kept > 0 && (kept >= keep.checkpoints_max || uses.bytes > keep.bytes_max) {
                break;
            }
            kept += 1;
        }
        let (gone, staying) = ids.split_at_checked(ids.len().saturating_sub(kept)).unwrap_or_default();
        if gone.is_empty() {
            return Ok((0, 0));
        }
        gone.iter().try_for_each(|id| self.remove(id))?;
        Ok((gone.len(), self.sweep(staying, needed)?))
    }

    /// Removes the checkpoints that `is_gone` selects. Returns the number of removed checkpoints and freed bytes.
    pub(super) fn forget(
        &self,
        is_gone: impl Fn(&CheckpointMoment) -> bool,
    ) -> Result<(usize, u64), CheckpointError> {
        // Unreadable checkpoints and those of another directory stay.
        let is_gone = |id: &CheckpointId| self.record(id).is_ok_and(|record| is_gone(&record.moment));
        let (gone, staying): (Vec<_>, Vec<_>) = self.ids()?.into_iter().partition(is_gone);
        gone.iter().try_for_each(|id| self.remove(id))?;
        Ok((gone.len(), self.sweep(&staying, None)?))
    }

    fn remove(&self, id: &CheckpointId) -> Result<(), CheckpointError> {
        let path = self.list().join(id.as_str());
        let removed = self.probe.before(Io::Forget, &path).and_then(|()| fs::remove_file(&path));
        removed.map_err(CheckpointError::io("remove", &path))
    }

    /// Removes payloads that neither these checkpoints nor `needed` use.
    pub(super) fn sweep(
        &self,
        staying: &[CheckpointId],
        needed: Option<&Needed<'_>>,
    ) -> Result<u64, CheckpointError> {
        let mut uses = Uses::new(self, needed);
        staying.iter().try_for_each(|id| uses.add(id))?;
        let failed = CheckpointError::io("clear", &self.dir);
        let swept = self.probe.before(Io::Forget, &self.dir);
        swept.and_then(|()| self.blobs.retain(&uses.blobs, END_OF_TIME)).map_err(failed)
    }

    fn list(&self) -> PathBuf {
        self.dir.join("list")
    }

    fn mark(&self) -> PathBuf {
        self.dir.join("capturing")
    }
}

/// The payloads in use, and their total size.
struct Uses<'a> {
    catalog: &'a Catalog,
    blobs: HashSet<BlobId>,
    bytes: u64,
    /// The lists that were already counted.
    parts: HashSet<BlobId>,
}

impl<'a> Uses<'a> {
    fn new(catalog: &'a Catalog, needed: Option<&Needed<'_>>) -> Self {
        let mut uses = Self { catalog, blobs: HashSet::new(), bytes: 0, parts: HashSet::new() };
        for manifest in needed.iter().flat_map(|needed| [Some(needed.current), needed.besides]).flatten() {
            uses.add_manifest(manifest);
        }
        uses
    }

    /// A damaged checkpoint uses nothing. One of a later version may use anything, so it is an error.
    fn add(&mut self, id: &CheckpointId) -> Result<(), CheckpointError> {
        let record = match self.catalog.any_record(id) {
            Ok(record) => record,
            Err(CheckpointError::Damaged { .. } | CheckpointError::Missing { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        for part in &record.parts {
            let Some(blob) = BlobId::parse(&part.blob) else { continue };
            if !self.parts.insert(blob) {
                continue;
            }
            self.add_blob(blob, part.bytes);
            let mut manifest = Manifest::default();
            let added = self.catalog.blobs.get(blob).map(|content| manifest.add_part(&content));
            if added.is_ok() {
                self.add_manifest(&manifest);
            }
        }
        Ok(())
    }

    fn add_manifest(&mut self, manifest: &Manifest) {
        for entry in manifest.entries.values() {
            if let Entry::File { blob, stamp, .. } = entry {
                self.add_blob(*blob, stamp.bytes);
            }
        }
    }

    fn add_blob(&mut self, blob: BlobId, bytes: u64) {
        if self.blobs.insert(blob) {
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
