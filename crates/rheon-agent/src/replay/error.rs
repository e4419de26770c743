//! What can come of a replay besides the same events.

use super::difference::ReplayDifference;

/// A log that was not replayed to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The loop did something else than the log says.
    #[error("the replay leaves the log: {0}")]
    Differs(Box<ReplayDifference>),
    /// The log has something at this place that cannot be replayed.
    #[error("event {seq} ({name}) cannot be replayed: {problem}")]
    Unsupported {
        /// The number of the event.
        seq: u64,
        /// Its dotted name.
        name: String,
        /// Why.
        problem: String,
    },
    /// Code of the loop broke, or the system gave no thread to run it.
    #[error("the replay broke: {0}")]
    Broken(String),
}
