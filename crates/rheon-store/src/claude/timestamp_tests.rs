//! Formats and parses timestamps.

use rheon_types::Timestamp;

use super::{format, parse};

#[test]
fn milliseconds_are_always_written() {
    assert_eq!(format(Timestamp::from_millis(1_794_700_295_712)), "2026-11-14T23:51:35.712Z");
    assert_eq!(format(Timestamp::from_millis(1_794_700_295_000)), "2026-11-14T23:51:35.000Z");
    assert_eq!(format(Timestamp::from_millis(u64::MAX)), "1970-01-01T00:00:00.000Z");
}

#[test]
fn formatted_timestamps_are_parsed_and_invalid_ones_are_not() {
    assert_eq!(parse("2026-11-14T23:51:35.712Z"), Some(Timestamp::from_millis(1_794_700_295_712)));
    assert_eq!(parse("2026-11-14T23:31:35+01:00"), Some(Timestamp::from_millis(1_794_695_495_000)));
    assert_eq!(parse("1969-12-31T23:59:59Z"), None);
    assert_eq!(parse("yesterday"), None);
}
