//! Time helpers.

use std::time::Duration;

use rheon_types::{Clock, WaitMode};

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Waits, unless the clock skips pauses.
pub(crate) async fn pause(clock: &dyn Clock, duration: Duration) {
    match clock.wait_mode() {
        WaitMode::Wait => tokio::time::sleep(duration).await,
        WaitMode::Skip => {}
    }
}
