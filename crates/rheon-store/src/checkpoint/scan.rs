//! Scans the workspace: walks it as git would, and reads only files whose stamp changed.

use std::collections::HashSet;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::gitignore::Gitignore;
use ignore::{DirEntry, Walk, WalkBuilder};
use rheon_types::is_protected_name;
use rustix::fs::{FileType, Stat};

use crate::blobs::BlobId;

use super::error::CheckpointError;
use super::limits::CheckpointLimits;
use super::manifest::{Entry, Manifest, SkipReason, Stamp};
use super::path::{is_draft, is_plain};
use super::probe::{Io, Probe};
use super::workspace_dir::{PathStatus, WorkspaceDir};

/// Younger stamps are not trusted. File system clocks are coarse; some have a resolution of two seconds.
const RACY_NS: i64 = 2_000_000_000;

/// What to scan, and with which limits.
#[derive(Debug, Clone)]
pub(super) struct ScanContext {
    /// The workspace, with links resolved.
    pub(super) root: PathBuf,
    /// The directory of the checkpoints, which may be inside the workspace.
    pub(super) store: PathBuf,
    pub(super) limits: CheckpointLimits,
    pub(super) probe: Probe,
}

/// What is already known, and when to stop.
pub(super) struct ScanHints<'a> {
    /// Files are not read again unless their stamp differs from this.
    pub(super) previous: Option<&'a Manifest>,
    /// Paths to scan even if they are ignored now.
    pub(super) besides: Option<&'a Manifest>,
    /// The time of the file system, in nanoseconds since 1970.
    pub(super) now_ns: i64,
    /// Set to stop the scan.
    pub(super) stop: &'a AtomicBool,
}

#[derive(Debug, Default)]
pub(super) struct ScanResult {
    pub(super) manifest: Manifest,
    /// Temporary files of an interrupted restore.
    pub(super) drafts: Vec<PathBuf>,
}

/// Stores the content of a file. Receives the manifest so far, and returns `None` if the content does not fit.
pub(super) type StoreContent<'a> =
    dyn FnMut(&[u8], &Manifest) -> Result<Option<BlobId>, CheckpointError> + 'a;

/// Scans everything that is not ignored.
pub(super) fn scan(
    context: &ScanContext,
    hints: &ScanHints<'_>,
    keep: &mut StoreContent<'_>,
) -> Result<ScanResult, CheckpointError> {
    let workspace_dir = WorkspaceDir::open(&context.root)
        .map_err(CheckpointError::io("open the workspace", &context.root))?;
    let mut scan = Scan { context, hints, workspace_dir, keep, scanned: ScanResult::default() };
    for path in scan.paths()? {
        scan.visit(&path)?;
    }
    for path in hints.besides.iter().flat_map(|besides| besides.entries.keys()) {
        if !scan.scanned.manifest.entries.contains_key(path) {
            scan.visit(path)?;
        }
    }
    Ok(scan.scanned)
}

/// All paths that are not ignored.
pub(super) fn visible(context: &ScanContext) -> HashSet<PathBuf> {
    let paths = walk(context).flatten().map(DirEntry::into_path);
    paths.filter_map(|path| path.strip_prefix(&context.root).map(Path::to_owned).ok()).collect()
}

fn walk(context: &ScanContext) -> Walk {
    let store = context.store.clone();
    WalkBuilder::new(&context.root)
        .hidden(false)
        .require_git(false)
        // `.ignore` files hide paths from searches. They do not mark build output.
        .ignore(false)
        .parents(!is_ignored_from_above(&context.root))
        .follow_links(false)
        .filter_entry(move |entry| {
            entry.depth() == 0 || !(is_protected_name(entry.file_name()) || entry.path() == store)
        })
        .build()
}

/// Whether a directory above the workspace ignores all of it, as a home directory under version control does. Such
/// rules do not describe the contents of the workspace.
fn is_ignored_from_above(root: &Path) -> bool {
    root.ancestors().skip(1).any(|dir| {
        let rules = dir.join(".gitignore");
        rules.is_file() && Gitignore::new(rules).0.matched_path_or_any_parents(root, true).is_ignore()
    })
}

struct Scan<'a, 'k> {
    context: &'a ScanContext,
    hints: &'a ScanHints<'a>,
    workspace_dir: WorkspaceDir,
    keep: &'a mut StoreContent<'k>,
    scanned: ScanResult,
}

impl Scan<'_, '_> {
    /// The paths to scan. They are counted before anything is read, because reading too much takes minutes.
    fn paths(&mut self) -> Result<Vec<PathBuf>, CheckpointError> {
        let files_max = self.context.limits.files_max;
        let mut paths = Vec::new();
        for entry in walk(self.context) {
            if self.hints.stop.load(Ordering::Relaxed) {
                return Err(CheckpointError::Stopped);
            }
            match entry {
                Ok(entry) => {
                    let Ok(path) = entry.path().strip_prefix(&self.context.root) else { continue };
                    if path.file_name().is_some_and(is_draft) {
                        self.scanned.drafts.push(path.to_owned());
                    } else if is_plain(path) {
                        paths.push(path.to_owned());
                    }
                }
                Err(error) => self.unreadable(&error)?,
            }
            if paths.len() > files_max {
                return Err(CheckpointError::TooManyFiles { files_max });
            }
        }
        // Unreadable directories are already in the manifest.
        paths.retain(|path| !self.scanned.manifest.entries.contains_key(path));
        Ok(paths)
    }

    fn visit(&mut self, path: &Path) -> Result<(), CheckpointError> {
        if self.hints.stop.load(Ordering::Relaxed) {
            return Err(CheckpointError::Stopped);
        }
        let entry = match self.workspace_dir.find(path) {
            Ok(None) => return Ok(()),
            Ok(Some(found)) => self.entry(path, &found)?,
            Err(_) => Some(Entry::Skipped { why: SkipReason::Unreadable, stamp: Stamp::default() }),
        };
        let files_max = self.context.limits.files_max;
        if let Some(entry) = entry {
            self.scanned.manifest.entries.insert(path.to_owned(), entry);
        }
        if self.scanned.manifest.entries.len() > files_max {
            return Err(CheckpointError::TooManyFiles { files_max });
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, found: &PathStatus) -> Result<Option<Entry>, CheckpointError> {
        let stamp = self.stamp(&found.stat);
        let mode = found.stat.st_mode & 0o777;
        Ok(match found.kind {
            FileType::Directory => Some(Entry::Directory { mode }),
            FileType::RegularFile => self.file(path, mode, stamp)?,
            FileType::Symlink => self.workspace_dir.target(path).ok().map(|target| Entry::Link { target }),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Some(Entry::Skipped { why: SkipReason::Special, stamp }),
        })
    }

    /// Scans a file, and reads it only if necessary. Returns `None` if it was removed in the meantime.
    fn file(&mut self, path: &Path, mode: u32, stamp: Stamp) -> Result<Option<Entry>, CheckpointError> {
        let before = self.hints.previous.and_then(|previous| previous.entries.get(path));
        if let Some(Entry::File { blob, stamp: before, .. }) = before
            && before.is_settled
            && before.is_of(&stamp)
        {
            return Ok(Some(Entry::File { mode, blob: *blob, stamp: *before }));
        }
        if stamp.bytes > self.context.limits.file_bytes_max {
            return Ok(Some(Entry::Skipped { why: SkipReason::TooLarge, stamp }));
        }
        let content = match self.read(path) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => return Ok(Some(Entry::Skipped { why: SkipReason::Unreadable, stamp })),
        };
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if bytes > self.context.limits.file_bytes_max {
            return Ok(Some(Entry::Skipped { why: SkipReason::TooLarge, stamp }));
        }
        // A file that was written while it was read is read again next time.
        let is_same = match self.workspace_dir.find(path) {
            Ok(Some(found)) => self.stamp(&found.stat).is_of(&stamp) && bytes == stamp.bytes,
            Ok(None) | Err(_) => false,
        };
        let stamp = Stamp { is_settled: stamp.is_settled && is_same, ..stamp };
        Ok(Some(match (self.keep)(&content, &self.scanned.manifest)? {
            Some(blob) => Entry::File { mode, blob, stamp },
            None => Entry::Skipped { why: SkipReason::NoRoom, stamp },
        }))
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        self.context.probe.before(Io::Read, path)?;
        let file = self.workspace_dir.read(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it was replaced in the meantime"));
        }
        let bytes_max = self.context.limits.file_bytes_max.saturating_add(1);
        let mut content = Vec::with_capacity(usize::try_from(metadata.size().min(bytes_max)).unwrap_or(0));
        file.take(bytes_max).read_to_end(&mut content)?;
        Ok(content)
    }

    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the widths differ between systems"
    )]
    fn stamp(&self, stat: &Stat) -> Stamp {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        let modified_ns = nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64);
        let changed_ns = nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64);
        Stamp {
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified_ns,
            changed_ns,
            inode: stat.st_ino as u64,
            is_settled: modified_ns.max(changed_ns).saturating_add(RACY_NS) <= self.hints.now_ns,
        }
    }

    /// Records a directory that cannot be read. Its contents are unknown, so it must not count as empty.
    fn unreadable(&mut self, error: &ignore::Error) -> Result<(), CheckpointError> {
        let is_gone = error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
        let path = path_of(error).and_then(|path| path.strip_prefix(&self.context.root).ok());
        match path.filter(|path| is_plain(path)) {
            Some(_) if is_gone => Ok(()),
            Some(path) => {
                let entry = Entry::Skipped { why: SkipReason::Unreadable, stamp: Stamp::default() };
                self.scanned.manifest.entries.insert(path.to_owned(), entry);
                Ok(())
            }
            None => Err(CheckpointError::Io {
                action: "scan",
                path: self.context.root.clone(),
                source: io::Error::other(error.to_string()),
            }),
        }
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// Whether `path` still holds what the scan found there.
pub(super) fn is_untouched(
    workspace_dir: &mut WorkspaceDir,
    path: &Path,
    before: Option<&Entry>,
) -> io::Result<bool> {
    let found = workspace_dir.find(path)?;
    Ok(match (before, found) {
        (None, found) => found.is_none(),
        (Some(_), None) => false,
        (Some(Entry::Directory { .. }), Some(found)) => found.kind == FileType::Directory,
        (Some(Entry::Link { target }), Some(found)) => {
            found.kind == FileType::Symlink && workspace_dir.target(path)? == *target
        }
        (Some(Entry::File { stamp, .. } | Entry::Skipped { stamp, .. }), Some(found)) => {
            is_at(&found.stat, stamp) && found.kind == FileType::RegularFile
        }
    })
}

/// Ignores the change time of the inode: replacing one of two hard links changes that of the other.
#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn is_at(stat: &Stat, stamp: &Stamp) -> bool {
    let modified_ns =
        (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64);
    modified_ns == stamp.modified_ns
        && stat.st_ino as u64 == stamp.inode
        && u64::try_from(stat.st_size).is_ok_and(|bytes| bytes == stamp.bytes)
}
