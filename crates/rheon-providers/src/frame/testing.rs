//! Test helpers for the decoders: feeding chunks, and generating them.

use proptest::prelude::*;
use rheon_types::ProviderError;

use super::{FrameDecoder, Framing};

/// All frames of a body as `(name, data)`, and the final result.
pub(super) type Outcome = (Vec<(String, String)>, Result<(), ProviderError>);

/// Decodes `pieces` in order, then the end.
pub(super) fn decode<'a>(framing: Framing, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut decoder = FrameDecoder::new(framing);
    let mut frames = Vec::new();
    let mut sink = |frame: super::Frame<'_>| {
        frames.push((frame.name.to_owned(), frame.data.to_owned()));
        Ok(())
    };
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| decoder.feed(piece, &mut sink));
    }
    result = result.and_then(|()| decoder.finish(&mut sink));
    (frames, result)
}

/// Decodes `body` whole, byte by byte and split in two at every position, and checks that the results are equal.
pub(super) fn decode_all_ways(framing: Framing, body: &[u8]) -> Outcome {
    let whole = decode(framing, [body]);
    assert_eq!(decode(framing, body.chunks(1)), whole, "byte by byte");
    for at in 0..=body.len() {
        let (first, second) = body.split_at(at);
        assert_eq!(decode(framing, [first, &[], second]), whole, "split at {at}");
    }
    whole
}

/// Cuts `body` at `offsets`, each taken modulo its length.
pub(super) fn cut<'a>(body: &'a [u8], offsets: &[usize]) -> Vec<&'a [u8]> {
    let mut offsets: Vec<usize> = offsets.iter().map(|place| place % (body.len() + 1)).collect();
    offsets.sort_unstable();
    offsets.push(body.len());
    let mut start = 0;
    offsets.into_iter().map(|end| &body[std::mem::replace(&mut start, end)..end]).collect()
}

/// Bodies made of the tokens that decoders react to.
pub(super) fn body() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        &b"data"[..],
        b"data: ",
        b"data:",
        b"event: a",
        b"event",
        b"id: 7",
        b"retry: 10",
        b":",
        b" ",
        b"\n",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\xEF",
        b"\xBB",
        b"\xBF",
        b"\xEF\xBB\xBF",
        "\u{e9}".as_bytes(),
        "\u{1f980}".as_bytes(),
        b"\xF0\x9F",
        b"\xFF",
        b"\0",
        b"x",
        b"{\"a\":1}",
    ])
    .prop_map(<[u8]>::to_vec);
    let any = prop::collection::vec(any::<u8>(), 0..6);
    prop::collection::vec(prop_oneof![8 => known, 1 => any], 0..40).prop_map(|tokens| tokens.concat())
}

/// Offsets to cut at.
pub(super) fn offsets() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0usize..2_000, 0..8)
}
