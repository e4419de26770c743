//! Tests of `SseDecoder`.

use proptest::prelude::*;

use super::testing::{Outcome, body, cut, decode, decode_all_ways, offsets};
use super::*;

fn frames(body: &str) -> Vec<(String, String)> {
    let (frames, result) = decode_all_ways(Framing::Sse, body.as_bytes());
    result.unwrap();
    frames
}

fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
    expected.into_iter().map(|(name, data)| (name.to_owned(), data.to_owned())).collect()
}

/// The WHATWG rules as written, applied to the whole body at once.
fn reference(body: &[u8]) -> Vec<(String, String)> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let body = String::from_utf8_lossy(body).replace("\r\n", "\n").replace('\r', "\n");
    let mut frames = Vec::new();
    let (mut name, mut data) = (String::new(), String::new());
    // The two line ends also terminate the last event.
    for line in format!("{body}\n\n").split('\n') {
        if line.is_empty() {
            if let Some(data) = data.strip_suffix('\n') {
                frames.push((name, data.to_owned()));
            }
            (name, data) = (String::new(), String::new());
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.to_owned(),
            "data" => data += &format!("{value}\n"),
            _ => {}
        }
    }
    frames
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_split_of_any_bytes_matches_the_reference(body in body(), offsets in offsets()) {
        let expected: Outcome = (reference(&body), Ok(()));
        prop_assert_eq!(decode(Framing::Sse, [&body[..]]), expected.clone());
        prop_assert_eq!(decode(Framing::Sse, cut(&body, &offsets)), expected.clone());
        prop_assert_eq!(decode(Framing::Sse, body.chunks(1)), expected);
    }
}

#[test]
fn all_three_line_ends_may_be_mixed() {
    assert_eq!(frames("event: a\ndata: 1\n\n"), pairs([("a", "1")]));
    assert_eq!(frames("event: a\rdata: 1\r\r"), pairs([("a", "1")]));
    assert_eq!(frames("event: a\r\ndata: 1\r\n\r\n"), pairs([("a", "1")]));
    assert_eq!(
        frames("data: 1\r\n\ndata: 2\n\rdata: 3\r\r\ndata: 4\n\n"),
        pairs([("", "1"), ("", "2"), ("", "3"), ("", "4")])
    );
}

#[test]
fn byte_order_mark_is_dropped_at_the_start_only() {
    assert_eq!(frames("\u{feff}data: 1\n\n"), pairs([("", "1")]));
    assert_eq!(frames("\u{feff}\u{feff}data: 1\n\ndata: 2\n\n"), pairs([("", "2")]));
    assert_eq!(
        frames("data: 1\n\n\u{feff}data: 2\n\ndata: \u{feff}3\n\n"),
        pairs([("", "1"), ("", "\u{feff}3")])
    );
    let (frames, _) = decode_all_ways(Framing::Sse, b"\xEF\xBBdata: 1\n\ndata: 2\n\n");
    assert_eq!(frames, pairs([("", "2")]));
}

#[test]
fn fields_follow_the_specification() {
    let body = ": a comment\n\
                :\n\
                data:no space\n\
                data:  two spaces\n\
                data\n\
                data : unknown field\n\
                Data: unknown field\n\
                event: first\n\
                event: second\n\
                other: x\n\
                \n\
                event: dropped, as it has no data\n\
                \n\
                data\n\
                \n\
                event: x\n\
                event:\n\
                data: a:b: c\n\
                \n";
    assert_eq!(frames(body), pairs([("second", "no space\n two spaces\n"), ("", ""), ("", "a:b: c")]));
}

#[test]
fn unterminated_last_event_is_passed_on() {
    assert_eq!(frames("data: 1\n\ndata: 2\n"), pairs([("", "1"), ("", "2")]));
    assert_eq!(frames("data: 1\n\nevent: e\ndata: 2"), pairs([("", "1"), ("e", "2")]));
    assert_eq!(frames("event: e\n"), pairs([]));
    assert_eq!(frames(""), pairs([]));
}

#[test]
fn invalid_utf_8_is_replaced_and_code_points_stay_whole() {
    assert_eq!(frames("data: \u{1f980}\u{e9}\u{6f22}\n\n"), pairs([("", "\u{1f980}\u{e9}\u{6f22}")]));
    let (frames, _) = decode_all_ways(Framing::Sse, b"event: \xFF\ndata: a\xF0\x9Fb\n\n");
    assert_eq!(frames, pairs([("\u{fffd}", "a\u{fffd}b")]));
}

#[test]
fn id_and_retry_are_available() {
    let mut decoder = SseDecoder::new();
    let mut feed = |text: &str| {
        decoder.feed(text.as_bytes(), &mut |_| Ok(())).unwrap();
        (decoder.last_event_id().to_owned(), decoder.retry_ms())
    };
    assert_eq!(feed("id: 1\nretry: 1500\n"), (String::new(), Some(1500)), "the event is still open");
    assert_eq!(feed("\n"), ("1".to_owned(), Some(1500)));
    assert_eq!(
        feed("data: x\nretry: 5s\nretry:\nretry: 99999999999999999999\n\n"),
        ("1".to_owned(), Some(1500))
    );
    assert_eq!(feed("id: a\0b\n\n"), ("1".to_owned(), Some(1500)));
    assert_eq!(feed("id\n\n"), (String::new(), Some(1500)));
}

#[test]
fn event_in_one_chunk_is_not_copied() {
    let body = b"event: e\ndata: {\"text\":\"hi\"}\n\nevent: f\ndata: 2\n\n".to_vec();
    let inside = body.as_ptr_range();
    let mut count = 0;
    SseDecoder::new()
        .feed(&body, &mut |frame| {
            assert!(inside.contains(&frame.name.as_ptr()) && inside.contains(&frame.data.as_ptr()));
            count += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(count, 2);
}

#[test]
fn event_size_has_a_limit() {
    let line = |bytes: usize| [b"data: ".to_vec(), vec![b'x'; bytes - 6]].concat();
    let lengths = |pieces: &[&[u8]]| {
        let (frames, result) = decode(Framing::Sse, pieces.iter().copied());
        (frames.iter().map(|(_, data)| data.len()).collect::<Vec<_>>(), result)
    };
    let fits = line(FRAME_BYTES_MAX);
    let over = line(FRAME_BYTES_MAX + 1);
    assert_eq!(lengths(&[&fits, b"\n\n"]), (vec![FRAME_BYTES_MAX - 6], Ok(())));
    assert_eq!(lengths(&[&over, b"\n\n"]), (vec![], Err(too_large())));
    assert_eq!(lengths(&[&[&over[..], b"\n\n"].concat()]), (vec![], Err(too_large())));

    let half = line(FRAME_BYTES_MAX / 2 + 6);
    let rest = line(FRAME_BYTES_MAX / 2 + 5);
    assert_eq!(lengths(&[&half, b"\n", &rest, b"\n\n"]), (vec![FRAME_BYTES_MAX], Ok(())));
    assert_eq!(lengths(&[&half, b"\n", &half, b"\n\n"]), (vec![], Err(too_large())));
}

#[test]
fn endless_line_is_refused_in_constant_memory() {
    let mut decoder = SseDecoder::new();
    let piece = vec![b'x'; 64 * 1024];
    let mut fed = 0;
    let error = loop {
        if let Err(error) = decoder.feed(&piece, &mut |_| Ok(())) {
            break error;
        }
        fed += piece.len();
        assert!(fed <= FRAME_BYTES_MAX, "the cap is {FRAME_BYTES_MAX}");
    };
    assert_eq!(error, too_large());
    let mut nothing = |_: Frame<'_>| panic!("nothing comes after an error");
    assert_eq!(decoder.feed(b"\n\ndata: 1\n\n", &mut nothing), Ok(()));
    assert_eq!(decoder.finish(&mut nothing), Ok(()));
}

#[test]
fn sink_error_ends_the_body() {
    let mut decoder = SseDecoder::new();
    let mut seen = 0;
    let mut sink = |_: Frame<'_>| {
        seen += 1;
        Err(too_large())
    };
    assert_eq!(decoder.feed(b"data: 1\n\ndata: 2\n\ndata: 3", &mut sink), Err(too_large()));
    assert_eq!(decoder.feed(b"\n\n", &mut sink), Ok(()));
    assert_eq!(decoder.finish(&mut sink), Ok(()));
    assert_eq!(seen, 1);
}

/// Quadratic work would take some 10^13 steps: this test would not finish.
#[test]
fn large_event_in_single_bytes_takes_linear_time() {
    let body = [b"data: ".to_vec(), vec![b'x'; 2 * 1024 * 1024], b"\n\n".to_vec()].concat();
    let (frames, result) = decode(Framing::Sse, body.chunks(1));
    assert_eq!((frames.len(), result), (1, Ok(())));
}
