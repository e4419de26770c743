//! Intact and damaged lines.

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{Entry, LineProblem, decode, encode};

fn line(event: &str) -> Vec<u8> {
    let event = RawValue::from_string(event.to_owned()).unwrap();
    let mut line = Vec::new();
    encode(&Entry { fence: 3, event: Some(&event), ..Entry::default() }, &mut line).unwrap();
    line
}

#[test]
fn a_line_is_json_that_starts_with_its_checksum() {
    let line = line(r#"{"a":1}"#);
    assert_eq!(
        std::str::from_utf8(&line).unwrap(),
        "{\"sum\":\"e0976cd6\",\"fence\":3,\"event\":{\"a\":1}}\n"
    );
    let record = decode(line.strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!((record.fence, record.event), (3, Some(r#"{"a":1}"#)));
    serde_json::from_slice::<serde_json::Value>(&line).unwrap();
}

#[test]
fn every_flipped_bit_is_detected() {
    let whole = line(r#"{"text":"hi \u00e4"}"#);
    let whole = whole.strip_suffix(b"\n").unwrap();
    for place in 0..whole.len() {
        for bit in 0..8 {
            let mut flipped = whole.to_vec();
            flipped[place] ^= 1 << bit;
            // Changing the case of a checksum digit changes nothing.
            if flipped.eq_ignore_ascii_case(whole) && (8..16).contains(&place) {
                continue;
            }
            assert!(decode(&flipped).is_err(), "bit {bit} of byte {place}");
        }
    }
    for length in 0..whole.len() {
        assert!(decode(&whole[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn lines_of_later_versions_are_valid() {
    let content = r#""fence":1,"future":{"x":1}}"#;
    let line = format!("{{\"sum\":\"{:08x}\",{content}", crc32fast::hash(content.as_bytes()));
    let record = decode(line.as_bytes()).unwrap();
    assert!(record.event.is_none() && record.header.is_none() && record.lease.is_none());
}

proptest! {
    #[test]
    fn garbage_is_no_record(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode(&bytes).is_err());
    }
}

#[test]
fn lines_that_are_not_records_are_rejected() {
    assert_eq!(decode(b"{}").unwrap_err(), LineProblem::NotARecord);
    assert_eq!(decode(b"{\"sum\":\"00000000\",\"fence\":1}").unwrap_err(), LineProblem::Checksum);
}
