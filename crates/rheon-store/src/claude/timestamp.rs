//! Moments as transcripts spell them: RFC 3339 in UTC with three digits of milliseconds.

use rheon_types::Timestamp;

/// The text of a moment; one beyond the calendar becomes the epoch, because the format has no other way to say it.
pub fn format(at: Timestamp) -> String {
    let millis = i64::try_from(at.as_millis()).unwrap_or(0);
    let moment = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The moment a text names, if it is one after the epoch.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(moment.as_millisecond()).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
#[path = "timestamp_tests.rs"]
mod tests;
