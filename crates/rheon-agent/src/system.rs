//! The system's clock and random numbers, used by default.

use std::time::{Duration, SystemTime};

use rand::RngExt;
use rheon_types::{Clock, Random, Timestamp};
use tokio::time::Instant;

/// The system clock. Durations use tokio's clock, which tests can pause.
#[derive(Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }

    fn elapsed(&self) -> Duration {
        self.origin.elapsed()
    }
}

/// Random numbers from the thread's generator, seeded by the system.
#[derive(Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn next_u64(&self) -> u64 {
        rand::rng().random()
    }
}
