//! `Clock` and `Random`: time and chance as inputs.

use std::time::Duration;

use crate::time::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The wall clock. May jump; never used to measure.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment. Never goes back.
    fn elapsed(&self) -> Duration;
}

/// Rolls dice.
pub trait Random: Send + Sync {
    /// Any number, all equally likely.
    fn next_u64(&self) -> u64;
}
