//! Tests of `EventStreamDecoder`.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use proptest::prelude::*;
use rheon_types::ProviderErrorKind;

use super::testing::{body, cut, decode, decode_all_ways, offsets};
use super::*;

fn frame(headers: &[(&'static str, &str)], payload: &[u8]) -> Vec<u8> {
    let text = |value: &str| HeaderValue::String(value.to_owned().into());
    let headers = headers.iter().map(|(name, value)| Header::new(*name, text(value))).collect();
    let mut bytes = Vec::new();
    write_message_to(&Message::new_from_parts(headers, payload.to_vec()), &mut bytes).unwrap();
    bytes
}

fn event(name: &str, payload: &str) -> Vec<u8> {
    let headers = [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, payload.as_bytes())
}

fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
    expected.into_iter().map(|(name, data)| (name.to_owned(), data.to_owned())).collect()
}

fn kind(result: &Result<(), ProviderError>) -> Option<ProviderErrorKind> {
    result.as_ref().err().map(|error| error.kind)
}

#[test]
fn events_exceptions_and_errors_have_name_and_data() {
    let body = [
        event("contentBlockDelta", "{\"delta\":{\"text\":\"h\u{e9}\u{1f980}\"}}"),
        event("messageStop", "{}"),
        frame(
            &[(":message-type", "exception"), (":exception-type", "throttlingException")],
            b"{\"message\":\"m\"}",
        ),
        frame(&[(":message-type", "error"), (":error-code", "500"), (":error-message", "oh")], b"ignored"),
        frame(&[], b""),
    ]
    .concat();
    let expected = pairs([
        ("contentBlockDelta", "{\"delta\":{\"text\":\"h\u{e9}\u{1f980}\"}}"),
        ("messageStop", "{}"),
        ("throttlingException", "{\"message\":\"m\"}"),
        ("500", "oh"),
        ("", ""),
    ]);
    assert_eq!(decode_all_ways(Framing::EventStream, &body), (expected, Ok(())));
}

#[test]
fn body_that_ends_inside_a_frame_is_a_network_error() {
    let body = [event("a", "1"), event("b", "2")].concat();
    let first = event("a", "1").len();
    for end in 1..body.len() {
        let (frames, result) = decode(Framing::EventStream, [&body[..end]]);
        assert_eq!(frames.len(), usize::from(end >= first), "{end}");
        assert_eq!(kind(&result), (end != first).then_some(ProviderErrorKind::Network), "{end}");
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let body = event("name", "{\"text\":\"hello\"}");
    for at in 0..body.len() * 8 {
        let mut bad = body.clone();
        bad[at / 8] ^= 1 << (at % 8);
        let (frames, result) = decode(Framing::EventStream, [&bad[..]]);
        assert!(frames.is_empty(), "{at}");
        assert!(result.is_err_and(|error| error.is_retryable()), "{at}");
    }
}

/// A prelude with a valid checksum. A decoder that ignores the length would buffer the rest.
fn prelude(total: u32, headers: u32) -> Vec<u8> {
    let lengths = [total.to_be_bytes(), headers.to_be_bytes()].concat();
    let mut crc = u32::MAX;
    for byte in &lengths {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    [lengths, (!crc).to_be_bytes().to_vec()].concat()
}

#[test]
fn oversized_frame_is_refused_by_its_prelude() {
    let cap = u32::try_from(FRAME_BYTES_MAX).unwrap();
    assert_eq!(decode_all_ways(Framing::EventStream, &prelude(cap + 1, 0)), (vec![], Err(too_large())));
    assert_eq!(decode_all_ways(Framing::EventStream, &prelude(u32::MAX, 0)), (vec![], Err(too_large())));
    let fits = event("e", &"x".repeat(FRAME_BYTES_MAX - event("e", "").len()));
    assert_eq!(fits.len(), FRAME_BYTES_MAX);
    let (frames, result) = decode(Framing::EventStream, fits.chunks(4096));
    assert_eq!((frames.len(), result), (1, Ok(())));
}

#[test]
fn impossible_lengths_are_malformed() {
    for (total, headers) in [(0, 0), (12, 0), (15, 0), (16, 1), (16, 4), (20, u32::MAX)] {
        let body = [prelude(total, headers), vec![0; 8]].concat();
        let (frames, result) = decode(Framing::EventStream, [&body[..]]);
        assert_eq!(
            (frames, kind(&result)),
            (vec![], Some(ProviderErrorKind::Malformed)),
            "{total} {headers}"
        );
    }
}

#[test]
fn json_lines_are_accepted() {
    let expected = pairs([("", "{\"a\":1}"), ("", "{\"b\":2}")]);
    assert_eq!(decode_all_ways(Framing::EventStream, b"{\"a\":1}\r\n{\"b\":2}"), (expected, Ok(())));
}

#[test]
fn other_body_is_malformed_and_ends_the_stream() {
    let (frames, result) = decode_all_ways(Framing::EventStream, b"<html><body>Bad gateway</body></html>");
    assert_eq!((frames, kind(&result)), (vec![], Some(ProviderErrorKind::Malformed)));
    let mut decoder = EventStreamDecoder::new();
    let mut nothing = |_: Frame<'_>| panic!("nothing comes after an error");
    assert!(decoder.feed(b"<html><body>", &mut nothing).is_err());
    assert_eq!(decoder.feed(&event("e", "1"), &mut nothing), Ok(()));
    assert_eq!(decoder.finish(&mut nothing), Ok(()));
    assert_eq!(decode(Framing::EventStream, []), (vec![], Ok(())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_split_gives_the_same_frames(
        events in prop::collection::vec(("[a-z]{0,8}", ".{0,40}"), 0..6),
        tail in body(),
        offsets in offsets(),
    ) {
        let mut body: Vec<u8> = events.iter().flat_map(|(name, data)| event(name, data)).collect();
        let (frames, result) = decode(Framing::EventStream, [&body[..]]);
        prop_assert_eq!((frames, result), (events, Ok(())));
        body.extend(tail);
        let whole = decode(Framing::EventStream, [&body[..]]);
        prop_assert_eq!(decode(Framing::EventStream, cut(&body, &offsets)), whole);
    }

    #[test]
    fn random_bytes_are_harmless(bytes in prop::collection::vec(any::<u8>(), 0..200), offsets in offsets()) {
        let whole = decode(Framing::EventStream, [&bytes[..]]);
        prop_assert_eq!(decode(Framing::EventStream, cut(&bytes, &offsets)), whole);
    }

    #[test]
    fn random_headers_with_valid_lengths_are_harmless(
        headers in prop::collection::vec(any::<u8>(), 0..60),
        payload in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let (header_bytes, payload_bytes) =
            (u32::try_from(headers.len()).unwrap(), u32::try_from(payload.len()).unwrap());
        let mut body = prelude(16 + header_bytes + payload_bytes, header_bytes);
        body.extend(headers.into_iter().chain(payload).chain([0; 4]));
        let (frames, _) = decode(Framing::EventStream, [&body[..]]);
        prop_assert!(frames.is_empty());
    }
}
