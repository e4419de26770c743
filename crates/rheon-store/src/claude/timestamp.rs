//! Timestamps in transcripts: RFC 3339 in UTC with milliseconds.

use rheon_types::Timestamp;

/// Formats a timestamp. One outside the calendar becomes the epoch, because the format cannot express it.
pub fn format(at: Timestamp) -> String {
    let millis = i64::try_from(at.as_millis()).unwrap_or(0);
    let moment = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Parses a timestamp after the epoch.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(moment.as_millisecond()).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
#[path = "timestamp_tests.rs"]
mod tests;
