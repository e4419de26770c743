//! `KeepingSettings`: how sessions are kept.

use std::path::PathBuf;

use rheon_store::checkpoint::CheckpointLimits;
use rheon_store::sessions::BLOB_BYTES_MAX;

/// How sessions are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepingSettings {
    /// Whether sessions are kept at all.
    pub persistence: Persistence,
    /// Whether Claude Code can go on with them.
    pub transcripts: Transcripts,
    /// The most bytes of large payloads, all sessions together.
    pub blob_bytes_max: u64,
    /// Whether files can be brought back.
    pub checkpoints: CheckpointMode,
    /// What becomes of a session that cannot be kept.
    pub on_trouble: OnTrouble,
}

impl Default for KeepingSettings {
    fn default() -> Self {
        Self {
            persistence: Persistence::On,
            transcripts: Transcripts::On,
            blob_bytes_max: BLOB_BYTES_MAX,
            checkpoints: CheckpointMode::On(CheckpointLimits::default()),
            on_trouble: OnTrouble::Refuse,
        }
    }
}

/// Whether sessions are kept at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// They are.
    On,
    /// Nothing is written: no journal, no transcript, no checkpoint, no row. Earlier sessions can be gone on with; what is
    /// added is lost.
    Off,
}

/// Whether sessions are written as transcripts of Claude Code, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transcripts {
    /// Where Claude Code looks for its own.
    On,
    /// No.
    Off,
    /// In this folder, which has a folder for each project.
    RedirectedTo(PathBuf),
}

/// Whether files are kept before they are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointMode {
    /// Yes, as much as this.
    On(CheckpointLimits),
    /// No.
    Off,
}

/// What becomes of a session that cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnTrouble {
    /// It stops before the next model call, and says why.
    Refuse,
    /// It goes on in memory. A notice says that nothing is kept.
    InMemory,
}
