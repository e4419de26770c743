//! `CheckpointId` and `CheckpointMoment`: which checkpoint, and when and why it was made.

use std::fmt;

use rheon_types::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};

/// The version of the format that is written.
pub(super) const CHECKPOINT_VERSION: u32 = 1;

/// How many digits of its hash are in the name of a checkpoint.
const HASH_CHARS: usize = 16;

/// The name of a checkpoint: its number in this workspace and a hash of what it says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(String);

impl CheckpointId {
    /// The id that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, hash) = text.split_once('-')?;
        let is_number = number.len() == 10 && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_hash =
            hash.len() == HASH_CHARS && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (is_number && is_hash).then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the `number`th checkpoint, which says `content`.
    pub(super) fn new(number: u64, content: &[u8]) -> Self {
        Self(format!("{number:010}-{}", short_hash(content)))
    }

    /// Its number in this workspace.
    pub(super) fn number(&self) -> u64 {
        self.0.split_once('-').and_then(|(number, _)| number.parse().ok()).unwrap_or_default()
    }

    /// Whether it is the name of what says `content`.
    pub(super) fn is_of(&self, content: &[u8]) -> bool {
        self.0.split_once('-').is_some_and(|(_, hash)| hash == short_hash(content))
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn short_hash(content: &[u8]) -> String {
    blake3::hash(content).to_hex().chars().take(HASH_CHARS).collect()
}

/// When and why a checkpoint is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointMoment {
    /// What people read.
    pub label: String,
    /// The wall clock.
    pub at: Timestamp,
    /// The session, if it is one's.
    pub session_id: Option<SessionId>,
    /// The last event of the session's log by then.
    pub seq: u64,
    /// The turn of the run.
    pub turn_index: u32,
}

/// A checkpoint in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointSummary {
    /// Its id.
    pub id: CheckpointId,
    /// When and why it was made.
    pub moment: CheckpointMoment,
    /// How many files, links and folders it has.
    pub files: usize,
}
