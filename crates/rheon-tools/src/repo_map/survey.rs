//! What the map knows of the files: by path, with what says whether a file is still the same.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::tags::FileTags;

/// How coarse the times of a file system may be. A file that changed more recently than this before it was looked at may have
/// changed again since and bear the same times.
const TIME_STEP: Duration = Duration::from_secs(2);

/// What is known of all files, by their paths from the root.
pub(super) type Survey = BTreeMap<String, Entry>;

/// What is known of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// What `stat` said when it was read.
    pub(super) stamp: Stamp,
    /// The hash of its content.
    pub(super) hash: Box<str>,
    /// What it defines and uses.
    pub(super) tags: FileTags,
}

/// What `stat` says of the state of a file, in a form that can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    /// How many bytes it has.
    pub(super) size: u64,
    /// When its content changed, in nanoseconds since 1970.
    modified: u64,
    /// When anything about it changed; unlike `modified`, programs cannot set it.
    changed: u64,
}

impl Stamp {
    /// The stamp in `metadata`.
    pub(super) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().map(nanos).unwrap_or_default();
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt as _;
            let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
            seconds
                .saturating_mul(1_000_000_000)
                .saturating_add(u64::try_from(metadata.ctime_nsec()).unwrap_or_default())
        };
        #[cfg(not(unix))]
        let changed = modified;
        Self { size: metadata.len(), modified, changed }
    }

    /// Whether a change after `seen_at` must show in the stamp.
    pub(super) fn is_settled(&self, seen_at: SystemTime) -> bool {
        let step = u64::try_from(TIME_STEP.as_nanos()).unwrap_or(u64::MAX);
        nanos(seen_at).checked_sub(step).is_some_and(|before| self.modified < before && self.changed < before)
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
