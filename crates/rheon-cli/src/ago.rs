//! How long ago something was, in words.

use rheon_types::Timestamp;

/// How long before `now` something was.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = now.as_millis().saturating_sub(at.as_millis()) / 1_000;
    match seconds {
        0..MINUTE => "just now".into(),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..DAY => format!("{} h ago", seconds / HOUR),
        _ => format!("{} d ago", seconds / DAY),
    }
}
