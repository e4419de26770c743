//! Tests of `LineDecoder`.

use proptest::prelude::*;

use super::testing::{body, cut, decode, decode_all_ways, offsets};
use super::*;

fn lines(body: &str) -> Vec<String> {
    let (frames, result) = decode_all_ways(Framing::Lines, body.as_bytes());
    result.unwrap();
    frames.into_iter().map(|(name, data)| name + &data).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_split_of_any_bytes_gives_the_lines(body in body(), offsets in offsets()) {
        let text = String::from_utf8_lossy(&body).into_owned();
        let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let expected: Vec<_> = lines
            .filter(|line| !line.trim_ascii().is_empty())
            .map(|line| (String::new(), line.to_owned()))
            .collect();
        prop_assert_eq!(decode(Framing::Lines, [&body[..]]), (expected.clone(), Ok(())));
        prop_assert_eq!(decode(Framing::Lines, cut(&body, &offsets)), (expected, Ok(())));
    }
}

#[test]
fn every_non_blank_line_is_a_frame() {
    assert_eq!(
        lines("{\"a\":1}\r\n\n  \n{\"b\":\"\u{1f980}\"}\nlast"),
        ["{\"a\":1}", "{\"b\":\"\u{1f980}\"}", "last"]
    );
}

#[test]
fn line_length_has_a_limit() {
    let fits = vec![b'x'; FRAME_BYTES_MAX];
    let (frames, result) = decode(Framing::Lines, [&fits[..], b"\n"]);
    assert_eq!((frames.len(), result), (1, Ok(())));
    assert_eq!(decode(Framing::Lines, [&fits[..], b"x"]), (vec![], Err(too_large())));
    let over = [&fits[..], b"x\n"].concat();
    assert_eq!(decode(Framing::Lines, [&over[..]]), (vec![], Err(too_large())));
}

#[test]
fn bytes_after_an_error_are_ignored() {
    let mut decoder = LineDecoder::new();
    assert_eq!(decoder.feed(b"1\n2", &mut |_| Err(too_large())), Err(too_large()));
    let mut nothing = |_: Frame<'_>| panic!("nothing comes after an error");
    assert_eq!(decoder.feed(b"3\n", &mut nothing), Ok(()));
    assert_eq!(decoder.finish(&mut nothing), Ok(()));
}
