//! `Checkpoints`: captures and restores the files of a workspace.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use rheon_types::SessionId;

use super::catalog::{Catalog, Draft, Lock, Needed, PruneLimits};
use super::change::{DiffTarget, PathChange, TEXT_BYTES_MAX, TextChange, changes, text_change};
use super::error::CheckpointError;
use super::id::{CheckpointId, CheckpointMoment, CheckpointSummary};
use super::limits::CheckpointLimits;
use super::manifest::{Entry, Manifest, SkipReason};
use super::path::is_plain;
use super::plan::{RestorePlan, RestoreSelection, Sides, plan};
use super::probe::Probe;
use super::restore::{RestoreReport, Restorer};
use super::scan::{ScanContext, ScanHints, scan};
use super::workspace_dir::WorkspaceDir;
use crate::blobs::BlobId;
use crate::session_name::SessionName;

/// Captures and restores the files of a workspace.
#[derive(Debug)]
pub struct Checkpoints {
    context: ScanContext,
    catalog: Catalog,
    marks: Marks,
    /// The newest checkpoint this process knows.
    last: Mutex<Option<(CheckpointId, Arc<Manifest>)>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointResult {
    pub id: CheckpointId,
    /// The number of files, links and directories.
    pub files: usize,
    /// The bytes of content that no earlier checkpoint has.
    pub bytes_new: u64,
    /// What cannot be restored from it.
    pub skipped: Vec<(PathBuf, SkipReason)>,
}

/// What was removed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PruneReport {
    pub checkpoints: usize,
    pub bytes: u64,
}

impl Checkpoints {
    /// The checkpoints in `dir` of the workspace at `root`, which must exist. `dir` must not be shared with
    /// another workspace; it is created on first use.
    pub fn open(dir: &Path, root: &Path, limits: CheckpointLimits) -> Result<Self, CheckpointError> {
        Self::with_probe(dir, root, limits, Probe::default())
    }

    pub(super) fn with_probe(
        dir: &Path,
        root: &Path,
        limits: CheckpointLimits,
        probe: Probe,
    ) -> Result<Self, CheckpointError> {
        let root = root.canonicalize().map_err(CheckpointError::io("open the workspace", root))?;
        let catalog = Catalog::new(dir, &root, &limits, &probe);
        // A directory that does not exist yet cannot be a link, but its parents can be.
        let parent = dir.parent().and_then(|parent| parent.canonicalize().ok());
        let store = dir.canonicalize().ok().or_else(|| Some(parent?.join(dir.file_name()?)));
        let store = store.unwrap_or_else(|| dir.to_owned());
        let marks = Marks::new(dir);
        Ok(Self {
            context: ScanContext { root, store, limits, probe },
            catalog,
            marks,
            last: Mutex::default(),
        })
    }

    /// Saves the current files. Blocks. Reads only what changed since the newest checkpoint.
    pub fn capture(&self, moment: &CheckpointMoment) -> Result<CheckpointResult, CheckpointError> {
        self.capture_cancelable(moment, &AtomicBool::new(false))
    }

    /// Like [`Self::capture`], but stops without a checkpoint once `stop` is true.
    pub fn capture_cancelable(
        &self,
        moment: &CheckpointMoment,
        stop: &AtomicBool,
    ) -> Result<CheckpointResult, CheckpointError> {
        let lock = self.catalog.lock(stop)?;
        self.capture_with(&lock, moment, None, stop).map(|(captured, _)| captured)
    }

    /// Like [`Self::capture_cancelable`], but returns the newest checkpoint if nothing changed since and it belongs
    /// to the same session. Then nothing is written or synced.
    pub fn capture_changes_cancelable(
        &self,
        moment: &CheckpointMoment,
        stop: &AtomicBool,
    ) -> Result<CheckpointResult, CheckpointError> {
        let lock = self.catalog.lock(stop)?;
        let found = self.take_snapshot(&lock, None, stop)?;
        match self.unchanged(moment, &found) {
            Some(id) => {
                self.catalog.end(&lock)?;
                Ok(self.captured(id, &found))
            }
            None => self.commit(&lock, moment, None, &found),
        }
    }

    /// All checkpoints, oldest first, without unreadable ones.
    pub fn list(&self) -> Result<Vec<CheckpointSummary>, CheckpointError> {
        let listed = self.catalog.ids()?.into_iter().filter_map(|id| {
            let record = self.catalog.record(&id).ok()?;
            Some(CheckpointSummary { id, moment: record.moment, files: record.files })
        });
        Ok(listed.collect())
    }

    /// The differences between a checkpoint and `against`.
    pub fn diff(&self, id: &CheckpointId, against: &DiffTarget) -> Result<Vec<PathChange>, CheckpointError> {
        let from = self.manifest(id)?;
        let to = match against {
            DiffTarget::Checkpoint(other) => self.manifest(other)?,
            DiffTarget::WorkingTree => Arc::new(self.present(&from)?),
        };
        Ok(changes(&from, &to))
    }

    /// The differences in one file between a checkpoint and `against`.
    pub fn diff_text(
        &self,
        id: &CheckpointId,
        against: &DiffTarget,
        path: &Path,
    ) -> Result<TextChange, CheckpointError> {
        let manifest = self.manifest(id)?;
        let from = self.text(&manifest, path)?;
        let to = match against {
            DiffTarget::Checkpoint(other) => {
                let manifest = self.manifest(other)?;
                self.text(&manifest, path)?
            }
            DiffTarget::WorkingTree => self.present_text(path)?,
        };
        Ok(match (from, to) {
            (Text::Content(from), Text::Content(to)) => {
                text_change(&path.display().to_string(), from.as_deref(), to.as_deref())
            }
            (Text::Skipped, _) | (_, Text::Skipped) => TextChange::NotCompared,
        })
    }

    /// The differences between a checkpoint and the current files.
    pub fn changed_since(&self, id: &CheckpointId) -> Result<Vec<PathChange>, CheckpointError> {
        self.diff(id, &DiffTarget::WorkingTree)
    }

    /// Records that all changes up to now that are in no checkpoint were made by this session.
    pub fn mark(&self, session_id: &SessionId) -> Result<(), CheckpointError> {
        let root = &self.context.root;
        let name = SessionName::try_from(session_id);
        let name =
            name.map_err(|error| CheckpointError::io("mark changes in", root)(io::Error::other(error)))?;
        self.marks.set(&name).map_err(CheckpointError::io("mark changes in", root))
    }

    /// The `paths` that changed after the last recorded change of these sessions.
    pub fn changed_by_others<'a>(&self, sessions: &[SessionName], paths: &'a [PathBuf]) -> Vec<&'a Path> {
        let mark_ns =
            sessions.iter().filter_map(|session| self.marks.at_ns(session)).max().unwrap_or(i64::MIN);
        let is_later = |path: &&Path| {
            self.context.root.join(path).symlink_metadata().is_ok_and(|found| {
                found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec()) > mark_ns
            })
        };
        paths.iter().map(PathBuf::as_path).filter(is_later).collect()
    }

    /// Plans the restore of a checkpoint without changing anything.
    pub fn plan_restore(
        &self,
        id: &CheckpointId,
        selection: RestoreSelection,
    ) -> Result<RestorePlan, CheckpointError> {
        let then = self.then(id)?;
        let now = self.present(&then.manifest)?;
        Ok(self.plan(&then, selection, &now))
    }

    /// Executes `plan`. The current files are captured first, under `moment`, so that this can be undone. If they
    /// differ from those the plan was made for, nothing is changed.
    pub fn restore(
        &self,
        plan: &RestorePlan,
        moment: &CheckpointMoment,
    ) -> Result<RestoreReport, CheckpointError> {
        let stop = AtomicBool::new(false);
        let lock = self.catalog.lock(&stop)?;
        let then = self.then(&plan.checkpoint)?;
        let (captured, now) = self.capture_with(&lock, moment, Some(&then.manifest), &stop)?;
        let found = self.plan(&then, plan.selection.clone(), &now);
        let paths = plan.differences(&found);
        if !paths.is_empty() {
            return Err(CheckpointError::Changed { paths });
        }
        let opened = WorkspaceDir::open(&self.context.root);
        let workspace_dir = opened.map_err(CheckpointError::io("open the workspace", &self.context.root))?;
        let done = RestoreReport {
            undo: captured.id,
            restored: Vec::new(),
            removed: Vec::new(),
            skipped: found.skipped,
            errors: Vec::new(),
        };
        let (context, catalog) = (&self.context, &self.catalog);
        let work = Restorer { context, catalog, workspace_dir, done, drafts: 0, settled: HashSet::new() };
        Ok(work.run(&found.tasks))
    }

    /// Keeps the newest `keep_last` checkpoints that fit into `bytes_max`, but at least one, and removes the
    /// payloads that only the others used.
    pub fn prune(&self, keep_last: usize, bytes_max: u64) -> Result<PruneReport, CheckpointError> {
        let _lock = self.catalog.lock(&AtomicBool::new(false))?;
        let keep = PruneLimits { checkpoints_max: keep_last, bytes_max };
        let (checkpoints, bytes) = self.catalog.keep_newest(keep, None)?;
        Ok(PruneReport { checkpoints, bytes })
    }

    /// Removes payloads that no checkpoint uses, such as those of interrupted captures. Returns the number of bytes
    /// freed.
    pub fn sweep(&self) -> Result<u64, CheckpointError> {
        let _lock = self.catalog.lock(&AtomicBool::new(false))?;
        self.catalog.sweep(&self.catalog.ids()?, None)
    }

    /// Removes the checkpoints of the sessions that `is_gone` selects, and the payloads only they used.
    pub fn forget(&self, is_gone: impl Fn(&SessionName) -> bool) -> Result<PruneReport, CheckpointError> {
        let _lock = self.catalog.lock(&AtomicBool::new(false))?;
        self.marks.remove(&is_gone);
        let is_gone = |moment: &CheckpointMoment| {
            let name = moment.session_id.as_ref().and_then(|id| SessionName::try_from(id).ok());
            name.is_some_and(|name| is_gone(&name))
        };
        let (checkpoints, bytes) = self.catalog.forget(is_gone)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(PruneReport { checkpoints, bytes })
    }

    fn capture_with(
        &self,
        lock: &Lock,
        moment: &CheckpointMoment,
        besides: Option<&Manifest>,
        stop: &AtomicBool,
    ) -> Result<(CheckpointResult, Arc<Manifest>), CheckpointError> {
        let found = self.take_snapshot(lock, besides, stop)?;
        let captured = self.commit(lock, moment, besides, &found)?;
        Ok((captured, found.manifest))
    }

    /// Scans all files and stores new content. This starts a capture.
    fn take_snapshot(
        &self,
        lock: &Lock,
        besides: Option<&Manifest>,
        stop: &AtomicBool,
    ) -> Result<Snapshot, CheckpointError> {
        let previous = self.newest()?;
        let now_ns = self.catalog.begin(lock)?;
        let before = previous.as_ref().map(|(_, manifest)| &**manifest);
        let known = ScanHints { previous: before, besides, now_ns, stop };
        let mut bytes_new: u64 = 0;
        let scanned = scan(&self.context, &known, &mut |content, current| {
            let stored = self.catalog.put(content, &Needed { current, besides })?;
            bytes_new = bytes_new.saturating_add(stored.map_or(0, |(_, bytes)| bytes));
            Ok(stored.map(|(id, _)| id))
        });
        let scanned = match scanned {
            Ok(scanned) if !stop.load(Ordering::Relaxed) => scanned,
            Ok(_) | Err(CheckpointError::Stopped) => {
                self.catalog.abandon(lock)?;
                return Err(CheckpointError::Stopped);
            }
            Err(error) => return Err(error),
        };
        self.remove_drafts(&scanned.drafts);
        Ok(Snapshot { previous, manifest: Arc::new(scanned.manifest), began_ns: now_ns, bytes_new })
    }

    fn commit(
        &self,
        lock: &Lock,
        moment: &CheckpointMoment,
        besides: Option<&Manifest>,
        found: &Snapshot,
    ) -> Result<CheckpointResult, CheckpointError> {
        let needed = Needed { current: &found.manifest, besides };
        let id = self.catalog.commit(lock, &Draft { moment, began_ns: found.began_ns, needed })?;
        Ok(self.captured(id, found))
    }

    /// The newest checkpoint, if it has the same session and the same files.
    fn unchanged(&self, moment: &CheckpointMoment, found: &Snapshot) -> Option<CheckpointId> {
        let (newest, manifest) = found.previous.as_ref()?;
        let is_same = manifest.is_untouched(&found.manifest)
            && self.catalog.record(newest).ok()?.moment.session_id == moment.session_id;
        is_same.then(|| newest.clone())
    }

    /// Remembers `id` as the newest checkpoint, with the manifest of `found`.
    fn captured(&self, id: CheckpointId, found: &Snapshot) -> CheckpointResult {
        let manifest = &found.manifest;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((id.clone(), Arc::clone(manifest)));
        let skipped = manifest.entries.iter().filter_map(|(path, entry)| match entry {
            Entry::Skipped { why, .. } => Some((path.clone(), *why)),
            Entry::File { .. } | Entry::Link { .. } | Entry::Directory { .. } => None,
        });
        CheckpointResult {
            id,
            files: manifest.entries.len(),
            bytes_new: found.bytes_new,
            skipped: skipped.collect(),
        }
    }

    /// Removes the drafts of an interrupted restore. The lock guarantees that no restore is running.
    fn remove_drafts(&self, drafts: &[PathBuf]) {
        let Ok(mut workspace_dir) = WorkspaceDir::open(&self.context.root) else { return };
        for draft in drafts {
            // A draft that cannot be removed is harmless; the next capture tries again.
            workspace_dir.remove(draft).ok();
        }
    }

    /// Scans the current files without storing them. Includes what `then` has, even if it is ignored now.
    fn present(&self, then: &Manifest) -> Result<Manifest, CheckpointError> {
        let previous = self.newest()?;
        let stop = AtomicBool::new(false);
        let previous = previous.as_ref().map(|(_, manifest)| &**manifest);
        let known = ScanHints { previous, besides: Some(then), now_ns: i64::MIN, stop: &stop };
        Ok(scan(&self.context, &known, &mut |content, _| Ok(Some(BlobId::of(content))))?.manifest)
    }

    fn plan(&self, then: &RestoreTarget, selection: RestoreSelection, now: &Manifest) -> RestorePlan {
        let began = UNIX_EPOCH + Duration::from_nanos(u64::try_from(then.began_ns).unwrap_or_default());
        let inodes: HashSet<u64> = then.manifest.entries.values().filter_map(inode).collect();
        let is_older = |path: &Path, entry: &Entry| {
            // A file that was only moved keeps its inode.
            let is_known = inode(entry).is_some_and(|inode| inodes.contains(&inode));
            let created = self.context.root.join(path).symlink_metadata().and_then(|found| found.created());
            !is_known && created.is_ok_and(|created| created < began)
        };
        plan(then.id.clone(), selection, &Sides { then: &then.manifest, now, is_older: &is_older })
    }

    fn then(&self, id: &CheckpointId) -> Result<RestoreTarget, CheckpointError> {
        let began_ns = self.catalog.record(id)?.began_ns;
        Ok(RestoreTarget { id: id.clone(), began_ns, manifest: self.manifest(id)? })
    }

    fn manifest(&self, id: &CheckpointId) -> Result<Arc<Manifest>, CheckpointError> {
        let record = self.catalog.record(id)?;
        if let Some((last, manifest)) = &*self.last.lock().unwrap_or_else(PoisonError::into_inner)
            && last == id
        {
            return Ok(Arc::clone(manifest));
        }
        self.catalog.manifest(id, &record).map(Arc::new)
    }

    /// The newest readable checkpoint.
    fn newest(&self) -> Result<Option<(CheckpointId, Arc<Manifest>)>, CheckpointError> {
        let ids = self.catalog.ids()?.into_iter().rev();
        Ok(ids.filter_map(|id| self.manifest(&id).ok().map(|manifest| (id, manifest))).next())
    }

    fn text(&self, manifest: &Manifest, path: &Path) -> Result<Text, CheckpointError> {
        match manifest.entries.get(path) {
            Some(Entry::File { blob, stamp, .. }) => {
                if usize::try_from(stamp.bytes).map_or(true, |bytes| bytes > TEXT_BYTES_MAX) {
                    return Ok(Text::Skipped);
                }
                let content = self.catalog.content(*blob).map_err(CheckpointError::io("read", path))?;
                Ok(Text::Content(Some(content)))
            }
            Some(Entry::Skipped { .. } | Entry::Link { .. } | Entry::Directory { .. }) => Ok(Text::Skipped),
            None => Ok(Text::Content(None)),
        }
    }

    fn present_text(&self, path: &Path) -> Result<Text, CheckpointError> {
        if !is_plain(path) {
            return Ok(Text::Skipped);
        }
        let failed = |error| CheckpointError::io("read", path)(error);
        let mut workspace_dir = WorkspaceDir::open(&self.context.root).map_err(failed)?;
        match workspace_dir.find(path).map_err(failed)? {
            None => return Ok(Text::Content(None)),
            Some(found) if found.kind == rustix::fs::FileType::RegularFile => {}
            Some(_) => return Ok(Text::Skipped),
        }
        let bytes_max = u64::try_from(TEXT_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
        let mut content = Vec::new();
        let read = workspace_dir.read(path).and_then(|file| file.take(bytes_max).read_to_end(&mut content));
        match read {
            Ok(_) => Ok(Text::Content(Some(content))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Text::Content(None)),
            Err(error) => Err(failed(error)),
        }
    }
}

/// The files found by a capture.
struct Snapshot {
    /// The newest checkpoint at that time.
    previous: Option<(CheckpointId, Arc<Manifest>)>,
    manifest: Arc<Manifest>,
    /// When the scan started, by the clock of the file system.
    began_ns: i64,
    bytes_new: u64,
}

/// The checkpoint to restore.
struct RestoreTarget {
    id: CheckpointId,
    began_ns: i64,
    manifest: Arc<Manifest>,
}

/// The content of a file; `None` if it does not exist.
enum Text {
    Content(Option<Vec<u8>>),
    Skipped,
}

fn inode(entry: &Entry) -> Option<u64> {
    match entry {
        Entry::File { stamp, .. } | Entry::Skipped { stamp, .. } => Some(stamp.inode),
        Entry::Directory { .. } | Entry::Link { .. } => None,
    }
}

/// Records until when the changes in a workspace were made by a session, by the clock of the file system: one file
/// per session, whose modification time is the end of its last call that may have changed files.
#[derive(Debug)]
struct Marks {
    dir: PathBuf,
}

impl Marks {
    fn new(dir: &Path) -> Self {
        Self { dir: dir.join("marks") }
    }

    /// Records that all changes up to now that are in no checkpoint were made by this session.
    fn set(&self, session: &SessionName) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let path = self.dir.join(session.as_str());
        // Only a write reliably changes the modification time.
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path)?.write_all(b"\n")
    }

    /// The recorded time, in nanoseconds since 1970.
    fn at_ns(&self, session: &SessionName) -> Option<i64> {
        let metadata = fs::metadata(self.dir.join(session.as_str())).ok()?;
        Some(metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec()))
    }

    /// Removes the records of the sessions that `is_gone` selects.
    fn remove(&self, is_gone: impl Fn(&SessionName) -> bool) {
        for file in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = file.file_name().to_str().and_then(|name| SessionName::new(name).ok());
            if name.is_some_and(|name| is_gone(&name)) {
                // A leftover record is harmless.
                fs::remove_file(file.path()).ok();
            }
        }
    }
}
