//! `Clock` and `Random`: time and randomness as inputs.

use std::time::Duration;

use crate::time::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The wall-clock time. It may jump, so never use it to measure durations.
    fn now(&self) -> Timestamp;

    /// Monotonic time since a fixed moment.
    fn elapsed(&self) -> Duration;

    /// Whether pauses really wait.
    fn wait_mode(&self) -> WaitMode {
        WaitMode::Wait
    }
}

/// Whether pauses really wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitMode {
    /// Yes.
    Wait,
    /// No: a replay skips pauses.
    Skip,
}

/// A source of random numbers.
pub trait Random: Send + Sync {
    /// The next uniformly distributed number.
    fn next_u64(&self) -> u64;
}
