//! `CheckpointId`, `CheckpointMoment` and `CheckpointSummary`: identify a checkpoint and say when and why it was
//! made.

use std::fmt;

use rheon_types::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};

pub(super) const CHECKPOINT_VERSION: u32 = 1;

/// How many digits of the hash are part of an id.
const HASH_CHARS: usize = 16;

/// The id of a checkpoint: its number in the workspace and a hash of its record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(String);

impl CheckpointId {
    pub fn parse(text: &str) -> Option<Self> {
        let (number, hash) = text.split_once('-')?;
        let is_number = number.len() == 10 && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_hash =
            hash.len() == HASH_CHARS && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (is_number && is_hash).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of checkpoint `number` with the record `content`.
    pub(super) fn new(number: u64, content: &[u8]) -> Self {
        Self(format!("{number:010}-{}", short_hash(content)))
    }

    pub(super) fn number(&self) -> u64 {
        self.0.split_once('-').and_then(|(number, _)| number.parse().ok()).unwrap_or_default()
    }

    /// Whether the hash matches the record `content`.
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

/// When and why a checkpoint was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointMoment {
    /// A text for people.
    pub label: String,
    pub at: Timestamp,
    pub session_id: Option<SessionId>,
    /// The last event in the session's log at that time.
    pub seq: u64,
    pub turn_index: u32,
}

/// A checkpoint in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointSummary {
    pub id: CheckpointId,
    pub moment: CheckpointMoment,
    /// The number of files, links and directories.
    pub files: usize,
}
