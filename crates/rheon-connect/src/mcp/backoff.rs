//! How long to wait before a server is started again.

use std::time::Duration;

/// How many attempts in a row may fail before a server is left alone.
pub(super) const ATTEMPTS_MAX: u32 = 5;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

/// The pause after `failures` attempts in a row have failed. `None` if there is no further attempt.
pub(super) fn pause(failures: u32) -> Option<Duration> {
    let doubled = || FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    (failures < ATTEMPTS_MAX).then(|| doubled().min(LONGEST))
}
