//! A clock and random numbers for tests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rheon_types::{Clock, Random, Timestamp};
use tokio::time::Instant;

/// 2023-11-14T22:13:20Z: the start time of every test.
const START_MS: u64 = 1_700_000_000_000;

/// A clock that starts at a fixed time and follows tokio's clock, which tests can pause.
#[derive(Debug)]
pub struct TestClock {
    origin: Instant,
}

impl Default for TestClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let elapsed = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        Timestamp::from_millis(START_MS.saturating_add(elapsed))
    }

    fn elapsed(&self) -> Duration {
        self.origin.elapsed()
    }
}

/// Random numbers that count up: different each time, the same in every run.
#[derive(Debug, Default)]
pub struct CountingRandom {
    next: AtomicU64,
}

impl Random for CountingRandom {
    fn next_u64(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}
