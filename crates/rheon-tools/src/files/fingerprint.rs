//! `Fingerprint`: identifies one state of a file.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use rheon_types::Timestamp;

/// The coarsest timestamps a file system may have. A file that changed more recently than this may change again without
/// new timestamps.
const TIME_STEP: Duration = Duration::from_secs(2);

/// The state of a file as reported by `stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub size: u64,
    modified: Option<SystemTime>,
    /// The change time (ctime). Unlike `modified`, programs cannot set it.
    changed: (i64, i64),
    inode: (u64, u64),
}

impl Stamp {
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (changed, inode) = {
            use std::os::unix::fs::MetadataExt;
            ((metadata.ctime(), metadata.ctime_nsec()), (metadata.dev(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let (changed, inode) = ((0, 0), (0, 0));
        Self { size: metadata.len(), modified: metadata.modified().ok(), changed, inode }
    }

    /// Whether any later change must alter the stamp, because the last change is long enough before `now`.
    pub(crate) fn is_settled(&self, now: Timestamp) -> bool {
        let Some(before) = Duration::from_millis(now.as_millis()).checked_sub(TIME_STEP) else {
            return false;
        };
        let modified = self.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let changed = u64::try_from(self.changed.0).map(Duration::from_secs);
        modified.is_some_and(|time| time < before) && changed.is_ok_and(|time| time < before)
    }
}

/// One state of a file: its stamp, and a hash of the content if all of it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    stamp: Stamp,
    hash: Option<[u8; 32]>,
}

impl Fingerprint {
    /// The fingerprint of a file whose whole content is known.
    pub fn of(stamp: Stamp, content: &[u8]) -> Self {
        Self { stamp, hash: Some(*blake3::hash(content).as_bytes()) }
    }

    /// The fingerprint of a file that is too large to read whole.
    pub fn of_stamp(stamp: Stamp) -> Self {
        Self { stamp, hash: None }
    }

    pub fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// Whether both describe the same content. If both have a hash, the hash decides: a touched file counts as the
    /// same, and a file that changed within one clock tick does not.
    pub fn is_same_content(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(one), Some(two)) => one == two,
            (Some(_), None) | (None, Some(_)) | (None, None) => self.stamp == other.stamp,
        }
    }
}
