//! Errors of a replay.

use super::difference::ReplayDifference;

/// A log that could not be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The loop behaved differently than recorded.
    #[error("the replay differs from the log: {0}")]
    Differs(Box<ReplayDifference>),
    /// The log contains an event that cannot be replayed.
    #[error("event {seq} ({name}) cannot be replayed: {problem}")]
    Unsupported {
        /// The number of the event.
        seq: u64,
        /// Its dotted name.
        name: String,
        /// Why.
        problem: String,
    },
    /// The loop panicked, or no thread could be started.
    #[error("the replay failed: {0}")]
    Broken(String),
}
