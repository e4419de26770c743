//! What stands in the workspace now: walked as git would, read only where a stamp says that something may have changed.

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

use super::beneath::{Beneath, Found};
use super::error::CheckpointError;
use super::limits::Limits;
use super::manifest::{Entry, Manifest, NotKept, Stamp};
use super::path::{is_draft, is_plain};
use super::probe::{Io, Probe};

/// Stamps younger than this are not believed: clocks of file systems are coarse, some count in steps of two seconds.
const RACY_NS: i64 = 2_000_000_000;

/// Where to look.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    /// The workspace, without links in its path.
    pub(super) root: PathBuf,
    /// Where checkpoints are, in case that is inside.
    pub(super) store: PathBuf,
    pub(super) limits: Limits,
    pub(super) probe: Probe,
}

/// What is already known, and when to give up.
pub(super) struct Known<'a> {
    /// What is not read again unless its stamp changed.
    pub(super) previous: Option<&'a Manifest>,
    /// What is looked at even if it is ignored now.
    pub(super) besides: Option<&'a Manifest>,
    /// The time of the file system, in nanoseconds since 1970.
    pub(super) now_ns: i64,
    /// Whether to give up.
    pub(super) stop: &'a AtomicBool,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) manifest: Manifest,
    /// Files that a restore left behind when it was killed.
    pub(super) drafts: Vec<PathBuf>,
}

/// What happens to the content of a file: nothing if there is no room for it. Told with what is in the manifest already.
pub(super) type Keep<'a> = dyn FnMut(&[u8], &Manifest) -> Result<Option<BlobId>, CheckpointError> + 'a;

/// Looks at everything that is not ignored.
pub(super) fn scan(
    ground: &Ground,
    known: &Known<'_>,
    keep: &mut Keep<'_>,
) -> Result<Scanned, CheckpointError> {
    let beneath =
        Beneath::open(&ground.root).map_err(CheckpointError::io("open the workspace", &ground.root))?;
    let mut scan = Scan { ground, known, beneath, keep, scanned: Scanned::default() };
    for path in scan.paths()? {
        scan.visit(&path)?;
    }
    for path in known.besides.iter().flat_map(|besides| besides.entries.keys()) {
        if !scan.scanned.manifest.entries.contains_key(path) {
            scan.visit(path)?;
        }
    }
    Ok(scan.scanned)
}

/// All paths that are not ignored.
pub(super) fn visible(ground: &Ground) -> HashSet<PathBuf> {
    let paths = walk(ground).flatten().map(DirEntry::into_path);
    paths.filter_map(|path| path.strip_prefix(&ground.root).map(Path::to_owned).ok()).collect()
}

fn walk(ground: &Ground) -> Walk {
    let store = ground.store.clone();
    WalkBuilder::new(&ground.root)
        .hidden(false)
        .require_git(false)
        // What search is told to leave out is no build output.
        .ignore(false)
        .parents(!is_ignored_from_above(&ground.root))
        .follow_links(false)
        .filter_entry(move |entry| {
            entry.depth() == 0 || !(is_protected_name(entry.file_name()) || entry.path() == store)
        })
        .build()
}

/// Whether a folder above the workspace ignores all of it, as a home folder under version control does. Such rules are not
/// about what is in the workspace.
fn is_ignored_from_above(root: &Path) -> bool {
    root.ancestors().skip(1).any(|folder| {
        let rules = folder.join(".gitignore");
        rules.is_file() && Gitignore::new(rules).0.matched_path_or_any_parents(root, true).is_ignore()
    })
}

struct Scan<'a, 'k> {
    ground: &'a Ground,
    known: &'a Known<'a>,
    beneath: Beneath,
    keep: &'a mut Keep<'k>,
    scanned: Scanned,
}

impl Scan<'_, '_> {
    /// What there is to look at. Counted before anything is read, because reading too much takes minutes.
    fn paths(&mut self) -> Result<Vec<PathBuf>, CheckpointError> {
        let files_max = self.ground.limits.files_max;
        let mut paths = Vec::new();
        for entry in walk(self.ground) {
            if self.known.stop.load(Ordering::Relaxed) {
                return Err(CheckpointError::Stopped);
            }
            match entry {
                Ok(entry) => {
                    let Ok(path) = entry.path().strip_prefix(&self.ground.root) else { continue };
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
        // A folder that cannot be looked into is in the manifest already, as that.
        paths.retain(|path| !self.scanned.manifest.entries.contains_key(path));
        Ok(paths)
    }

    fn visit(&mut self, path: &Path) -> Result<(), CheckpointError> {
        if self.known.stop.load(Ordering::Relaxed) {
            return Err(CheckpointError::Stopped);
        }
        let entry = match self.beneath.find(path) {
            Ok(None) => return Ok(()),
            Ok(Some(found)) => self.entry(path, &found)?,
            Err(_) => Some(Entry::NotKept { why: NotKept::Unreadable, stamp: Stamp::default() }),
        };
        let files_max = self.ground.limits.files_max;
        if let Some(entry) = entry {
            self.scanned.manifest.entries.insert(path.to_owned(), entry);
        }
        if self.scanned.manifest.entries.len() > files_max {
            return Err(CheckpointError::TooManyFiles { files_max });
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, found: &Found) -> Result<Option<Entry>, CheckpointError> {
        let stamp = self.stamp(&found.stat);
        let mode = found.stat.st_mode & 0o777;
        Ok(match found.kind {
            FileType::Directory => Some(Entry::Folder { mode }),
            FileType::RegularFile => self.file(path, mode, stamp)?,
            FileType::Symlink => self.beneath.target(path).ok().map(|target| Entry::Link { target }),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Some(Entry::NotKept { why: NotKept::Special, stamp }),
        })
    }

    /// The file at `path`, read only if it has to be; nothing if it is gone in the meantime.
    fn file(&mut self, path: &Path, mode: u32, stamp: Stamp) -> Result<Option<Entry>, CheckpointError> {
        let before = self.known.previous.and_then(|previous| previous.entries.get(path));
        if let Some(Entry::File { blob, stamp: before, .. }) = before
            && before.is_settled
            && before.is_of(&stamp)
        {
            return Ok(Some(Entry::File { mode, blob: *blob, stamp: *before }));
        }
        if stamp.bytes > self.ground.limits.file_bytes_max {
            return Ok(Some(Entry::NotKept { why: NotKept::TooLarge, stamp }));
        }
        let content = match self.read(path) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => return Ok(Some(Entry::NotKept { why: NotKept::Unreadable, stamp })),
        };
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if bytes > self.ground.limits.file_bytes_max {
            return Ok(Some(Entry::NotKept { why: NotKept::TooLarge, stamp }));
        }
        // What was written to while it was read is read again the next time.
        let is_same = match self.beneath.find(path) {
            Ok(Some(found)) => self.stamp(&found.stat).is_of(&stamp) && bytes == stamp.bytes,
            Ok(None) | Err(_) => false,
        };
        let stamp = Stamp { is_settled: stamp.is_settled && is_same, ..stamp };
        Ok(Some(match (self.keep)(&content, &self.scanned.manifest)? {
            Some(blob) => Entry::File { mode, blob, stamp },
            None => Entry::NotKept { why: NotKept::NoRoom, stamp },
        }))
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        self.ground.probe.before(Io::Read, path)?;
        let file = self.beneath.read(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it was just replaced"));
        }
        let bytes_max = self.ground.limits.file_bytes_max.saturating_add(1);
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
            is_settled: modified_ns.max(changed_ns).saturating_add(RACY_NS) <= self.known.now_ns,
        }
    }

    /// A folder that cannot be read hides what is in it, which must not be taken for nothing.
    fn unreadable(&mut self, error: &ignore::Error) -> Result<(), CheckpointError> {
        let is_gone = error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
        let path = path_of(error).and_then(|path| path.strip_prefix(&self.ground.root).ok());
        match path.filter(|path| is_plain(path)) {
            Some(_) if is_gone => Ok(()),
            Some(path) => {
                let entry = Entry::NotKept { why: NotKept::Unreadable, stamp: Stamp::default() };
                self.scanned.manifest.entries.insert(path.to_owned(), entry);
                Ok(())
            }
            None => Err(CheckpointError::Io {
                action: "look through",
                path: self.ground.root.clone(),
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

/// Whether what stands at `path` is still what was found there before.
pub(super) fn is_untouched(beneath: &mut Beneath, path: &Path, before: Option<&Entry>) -> io::Result<bool> {
    let found = beneath.find(path)?;
    Ok(match (before, found) {
        (None, found) => found.is_none(),
        (Some(_), None) => false,
        (Some(Entry::Folder { .. }), Some(found)) => found.kind == FileType::Directory,
        (Some(Entry::Link { target }), Some(found)) => {
            found.kind == FileType::Symlink && beneath.target(path)? == *target
        }
        (Some(Entry::File { stamp, .. } | Entry::NotKept { stamp, .. }), Some(found)) => {
            is_at(&found.stat, stamp) && found.kind == FileType::RegularFile
        }
    })
}

/// Without the time of the last change of the inode: replacing one of two hard links changes that of the other.
#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn is_at(stat: &Stat, stamp: &Stamp) -> bool {
    let modified_ns =
        (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64);
    modified_ns == stamp.modified_ns
        && stat.st_ino as u64 == stamp.inode
        && u64::try_from(stat.st_size).is_ok_and(|bytes| bytes == stamp.bytes)
}
