//! The system's clock and dice: the default seams of an agent that is built without any. The loop only sees the traits.

use std::time::{Duration, SystemTime};

use rand::RngExt;
use rheon_types::{Clock, Random, Timestamp};
use tokio::time::Instant;

/// The wall clock of this machine; measures with tokio's clock, which tests can hold still.
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

/// Random numbers of the thread's generator, seeded by the system.
#[derive(Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn next_u64(&self) -> u64 {
        rand::rng().random()
    }
}
