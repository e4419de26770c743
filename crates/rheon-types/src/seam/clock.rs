//! `Clock` and `Random`: time and chance as inputs.

use std::time::Duration;

use crate::time::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The wall clock. May jump; never used to measure.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment. Never goes back.
    fn elapsed(&self) -> Duration;

    /// Whether waiting takes time.
    fn wait_mode(&self) -> WaitMode {
        WaitMode::Wait
    }
}

/// Whether waiting takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitMode {
    /// Yes.
    Wait,
    /// No: a replay skips pauses.
    Skip,
}

/// Rolls dice.
pub trait Random: Send + Sync {
    /// Any number, all equally likely.
    fn next_u64(&self) -> u64;
}
