//! The size of the layers, and how they are removed. What a session uses is locked and stays.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanReport {
    pub layers: usize,
    pub bytes: u64,
    /// Layers that a running session uses.
    pub in_use: usize,
}

/// The file in a slot with its size when it was last measured. Its time says when the slot was last used.
const SIZE_FILE: &str = "size";

/// Entries to count in one slot; the rest of a larger one is not counted.
const ENTRIES_MAX: u64 = 5_000_000;

/// Removes the layers of all projects that no session uses.
pub fn clean_caches(dir: &Path) -> CleanReport {
    let mut report = CleanReport::default();
    for slot in slots(dir) {
        let Some(_lock) = lock_slot(&slot) else {
            report.in_use += 1;
            continue;
        };
        report.layers += 1;
        report.bytes += measure(&slot);
        remove_tree(&slot);
        // Fails while the project has other slots.
        drop(slot.parent().map(fs::remove_dir));
    }
    report
}

/// The layers of one session of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheUsage {
    /// The project, by the name of its directory and a number.
    pub project: String,
    pub bytes: u64,
    pub is_in_use: bool,
}

/// The layers of all projects, the largest first.
pub fn list_caches(dir: &Path) -> Vec<CacheUsage> {
    let usage = |slot: PathBuf| {
        let project = slot.parent().and_then(Path::file_name).unwrap_or_default();
        CacheUsage {
            project: project.to_string_lossy().into_owned(),
            bytes: measure(&slot),
            is_in_use: lock_slot(&slot).is_none(),
        }
    };
    let mut listed: Vec<CacheUsage> = slots(dir).into_iter().map(usage).collect();
    listed.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.project.cmp(&other.project)));
    listed
}

/// Measures all layers and removes the least recently used ones until they fit.
pub(super) fn trim(dir: &Path, bytes_max: u64) {
    let mut sizes: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for slot in slots(dir) {
        let used = slot.join(SIZE_FILE).metadata().and_then(|found| found.modified());
        let bytes = measure(&slot);
        // Without the file the size counts as zero until the next session.
        drop(fs::write(slot.join(SIZE_FILE), bytes.to_string()));
        sizes.push((used.unwrap_or(SystemTime::UNIX_EPOCH), slot, bytes));
    }
    let mut total: u64 = sizes.iter().map(|(_, _, bytes)| bytes).sum();
    sizes.sort();
    for (_, slot, bytes) in sizes {
        if total <= bytes_max {
            return;
        }
        if let Some(_lock) = lock_slot(&slot) {
            remove_tree(&slot);
            total = total.saturating_sub(bytes);
        }
    }
}

/// Whether a slot alone is over the limit, by its last measurement.
pub(super) fn is_over(slot: &Path, bytes_max: u64) -> bool {
    let text = fs::read_to_string(slot.join(SIZE_FILE)).unwrap_or_default();
    text.trim().parse::<u64>().is_ok_and(|bytes| bytes > bytes_max)
}

fn slots(dir: &Path) -> Vec<PathBuf> {
    let dirs = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())).map(|it| it.path()).collect()
    };
    dirs(dir).iter().flat_map(|project| dirs(project)).collect()
}

/// The bytes of all files of a tree.
pub(super) fn measure(root: &Path) -> u64 {
    let (mut bytes, mut seen) = (0_u64, 0_u64);
    let mut waiting = vec![root.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            seen += 1;
            if seen > ENTRIES_MAX {
                return bytes;
            }
            let Ok(found) = entry.path().symlink_metadata() else { continue };
            if found.is_dir() {
                waiting.push(entry.path());
            } else {
                bytes = bytes.saturating_add(found.len());
            }
        }
    }
    bytes
}

/// Removes a tree. Some tools make the directories of their caches read-only, and so does the kernel.
pub(super) fn remove_tree(root: &Path) {
    if fs::remove_dir_all(root).is_err() {
        let mut waiting = vec![root.to_path_buf()];
        while let Some(dir) = waiting.pop() {
            system::make_writable(&dir);
            let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
            waiting.extend(
                entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())).map(|it| it.path()),
            );
        }
        // What is left is tried again by the next session.
        drop(fs::remove_dir_all(root));
    }
}

pub(super) use system::{lock_slot, make_private_dir};

#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, OpenOptions, Permissions};
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};

    use super::{File, Path, io};

    pub(in super::super) fn make_private_dir(dir: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)
    }

    /// Locks a slot for as long as the file is open. `None` if another session has it.
    pub(in super::super) fn lock_slot(slot: &Path) -> Option<File> {
        let path = slot.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).ok()?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(file)
    }

    pub(super) fn make_writable(dir: &Path) {
        // What cannot be changed cannot be removed either.
        drop(std::fs::set_permissions(dir, Permissions::from_mode(0o700)));
    }
}

#[cfg(not(unix))]
mod system {
    use super::{File, Path, io};

    pub(in super::super) fn make_private_dir(dir: &Path) -> io::Result<()> {
        std::fs::create_dir_all(dir)
    }

    pub(in super::super) fn lock_slot(slot: &Path) -> Option<File> {
        File::create(slot.join("lock")).ok()
    }

    pub(super) fn make_writable(_dir: &Path) {}
}
