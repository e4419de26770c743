//! `PersistenceSettings`: whether and how sessions are saved.

use std::path::PathBuf;

use rheon_store::checkpoint::CheckpointLimits;
use rheon_store::sessions::BLOB_BYTES_MAX;

/// Whether and how sessions are saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistenceSettings {
    pub persistence: Persistence,
    /// Whether sessions are also written as transcripts that Claude Code can resume.
    pub transcripts: Transcripts,
    /// The most bytes of large payloads, all sessions together.
    pub blob_bytes_max: u64,
    pub checkpoints: CheckpointMode,
    /// What to do if a session cannot be saved.
    pub on_failure: OnStorageFailure,
}

impl Default for PersistenceSettings {
    fn default() -> Self {
        Self {
            persistence: Persistence::On,
            transcripts: Transcripts::WhereUsed,
            blob_bytes_max: BLOB_BYTES_MAX,
            checkpoints: CheckpointMode::On(CheckpointLimits::default()),
            on_failure: OnStorageFailure::Refuse,
        }
    }
}

/// Whether sessions are saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    On,
    /// Nothing is written: no journal, no transcript, no checkpoint, no row. Earlier sessions can be resumed; what is
    /// added is lost.
    Off,
}

/// Whether sessions are written as transcripts of Claude Code, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transcripts {
    /// Where Claude Code looks for its own, if it is used on this machine: its directory exists.
    WhereUsed,
    /// Where Claude Code looks for its own.
    On,
    Off,
    /// In this directory, which has a directory for each project.
    RedirectedTo(PathBuf),
}

/// Whether files are saved before they are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointMode {
    /// Yes, as much as this.
    On(CheckpointLimits),
    /// No.
    Off,
}

/// What to do if a session cannot be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnStorageFailure {
    /// Stop before the next model call, with the reason.
    Refuse,
    /// Continue in memory, with a notice that nothing is saved.
    InMemory,
}
