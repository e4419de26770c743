//! `Survey`: the tags of all files, with stamps that show whether a file changed.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::tags::FileTags;

/// The coarsest timestamps a file system may have. A file that changed more recently than this before it was read may
/// have changed again without new timestamps.
const TIME_STEP: Duration = Duration::from_secs(2);

/// All files by path relative to the root.
pub(super) type Survey = BTreeMap<String, Entry>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The state of the file when it was read.
    pub(super) stamp: Stamp,
    pub(super) hash: Box<str>,
    pub(super) tags: FileTags,
}

/// The state of a file as reported by `stat`, in a serializable form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) size: u64,
    /// Nanoseconds since 1970.
    modified: u64,
    /// The change time (ctime). Unlike `modified`, programs cannot set it.
    changed: u64,
}

impl Stamp {
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

    /// Whether any change after `seen_at` must alter the stamp.
    pub(super) fn is_settled(&self, seen_at: SystemTime) -> bool {
        let step = u64::try_from(TIME_STEP.as_nanos()).unwrap_or(u64::MAX);
        nanos(seen_at).checked_sub(step).is_some_and(|before| self.modified < before && self.changed < before)
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
