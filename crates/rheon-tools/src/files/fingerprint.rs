//! `Fingerprint`: which state of a file was seen.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use rheon_types::Timestamp;

/// How coarse the times of a file system may be. A file that changed more recently than this may change again and keep its times.
const TIME_STEP: Duration = Duration::from_secs(2);

/// What a `stat` says of the state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// How many bytes it has.
    pub size: u64,
    modified: Option<SystemTime>,
    /// When anything about it changed; unlike `modified`, programs cannot set it.
    changed: (i64, i64),
    inode: (u64, u64),
}

impl Stamp {
    /// The stamp in `metadata`.
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

    /// Whether a later change must show in the stamp, because the last one is long enough before `now`.
    pub(crate) fn is_settled(&self, now: Timestamp) -> bool {
        let Some(before) = Duration::from_millis(now.as_millis()).checked_sub(TIME_STEP) else {
            return false;
        };
        let modified = self.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let changed = u64::try_from(self.changed.0).map(Duration::from_secs);
        modified.is_some_and(|time| time < before) && changed.is_ok_and(|time| time < before)
    }
}

/// Which state of a file was seen: what `stat` said, and a hash of the content where all of it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    stamp: Stamp,
    hash: Option<[u8; 32]>,
}

impl Fingerprint {
    /// Of a file whose whole content is known.
    pub fn of(stamp: Stamp, content: &[u8]) -> Self {
        Self { stamp, hash: Some(*blake3::hash(content).as_bytes()) }
    }

    /// Of a file too large to be seen whole.
    pub fn of_stamp(stamp: Stamp) -> Self {
        Self { stamp, hash: None }
    }

    /// What `stat` said.
    pub fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// Whether both are of the same content. The hash decides where both have one, so that a file which was only touched
    /// counts as the same, and one that changed within a tick of the clock does not.
    pub fn is_same_content(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(one), Some(two)) => one == two,
            (Some(_), None) | (None, Some(_)) | (None, None) => self.stamp == other.stamp,
        }
    }
}
