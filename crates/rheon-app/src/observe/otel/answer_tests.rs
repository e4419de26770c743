//! What collectors say, and what is no answer at all.

use proptest::prelude::*;

use super::{WORDS_CHARS_MAX, reason, rejected};
use crate::observe::otel::target::{Encoding, Signal};

const TRACES: Signal = Signal::Traces;

/// `partial_success { rejected: 300, error_message: "too old" }`.
const PARTIAL: &[u8] = &[0x0a, 12, 0x08, 0xac, 0x02, 0x12, 7, b't', b'o', b'o', b' ', b'o', b'l', b'd'];

#[test]
fn a_message_that_was_taken_whole_is_nothing_to_tell() {
    for body in [&b""[..], &[0x0a, 0], b"{}"] {
        assert_eq!(rejected(TRACES, Encoding::Protobuf, body), None);
    }
    for body in ["", "{}", r#"{"partialSuccess":{}}"#, r#"{"partialSuccess":{"rejectedSpans":"0"}}"#, "[1]"] {
        assert_eq!(rejected(TRACES, Encoding::Json, body.as_bytes()), None, "{body}");
    }
}

#[test]
fn what_was_rejected_is_counted_in_both_encodings() {
    let expected = Some("the collector rejected 300 spans: too old".to_owned());
    assert_eq!(rejected(TRACES, Encoding::Protobuf, PARTIAL), expected);
    for count in ["300", "\"300\""] {
        let body = format!(r#"{{"partialSuccess":{{"rejectedSpans":{count},"errorMessage":"too\nold"}}}}"#);
        assert_eq!(rejected(TRACES, Encoding::Json, body.as_bytes()), expected);
    }
    let points = br#"{"partialSuccess":{"rejectedDataPoints":"1"}}"#;
    assert_eq!(
        rejected(Signal::Metrics, Encoding::Json, points).as_deref(),
        Some("the collector rejected 1 data points without saying why")
    );
    let warning = br#"{"partialSuccess":{"errorMessage":"use gzip"}}"#;
    assert_eq!(rejected(TRACES, Encoding::Json, warning).as_deref(), Some("the collector warns: use gzip"));
}

#[test]
fn the_reason_of_a_refusal_is_short_and_inert() {
    let long = format!(r#"{{"code":3,"message":"\u001b[2J{}"}}"#, "x".repeat(WORDS_CHARS_MAX * 2));
    let told = reason(Encoding::Json, long.as_bytes()).unwrap();
    assert!(told.starts_with("[2Jxxx") && told.chars().count() < WORDS_CHARS_MAX, "{told}");
    assert_eq!(reason(Encoding::Protobuf, &[0x08, 3, 0x12, 2, b'n', b'o']).as_deref(), Some("no"));
    assert_eq!(reason(Encoding::Protobuf, b"<html>Bad Request</html>"), None);
    assert_eq!(reason(Encoding::Json, b"Bad Request"), None);
}

proptest! {
    #[test]
    fn no_bytes_do_harm(body in proptest::collection::vec(any::<u8>(), 0..64)) {
        rejected(TRACES, Encoding::Protobuf, &body);
        reason(Encoding::Protobuf, &body);
    }
}
