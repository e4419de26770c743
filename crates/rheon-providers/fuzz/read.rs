//! Shared by all targets: feeds bytes to a reader, whole and in pieces, and the chunks to a draft.

use std::collections::VecDeque;

use rheon_providers::frame::Framing;
use rheon_providers::wire::{ResponseReader, WireKind};
use rheon_types::{Chunk, Draft, StopReason};

/// The first byte is the size of the pieces and the second one the framing; the rest is the body.
pub fn read(wire: WireKind, data: &[u8]) {
    let [length, framing, bytes @ ..] = data else { return };
    let framing = match framing % 4 {
        0 => Framing::Lines,
        1 => Framing::EventStream,
        2 => Framing::Sse,
        _ => wire.framing(),
    };
    let whole = chunks(wire, framing, std::iter::once(bytes));
    let pieces = chunks(wire, framing, bytes.chunks(usize::from(*length).max(1)));
    assert_eq!(whole, pieces);
    let mut draft = Draft::new();
    let _refused = whole.iter().try_for_each(|chunk| draft.push(chunk));
    drop(draft.finish(StopReason::Error));
}

fn chunks<'a>(
    wire: WireKind,
    framing: Framing,
    mut pieces: impl Iterator<Item = &'a [u8]>,
) -> VecDeque<Chunk> {
    let mut reader = ResponseReader::new(wire, framing, "vendor/model");
    let mut chunks = VecDeque::new();
    let fed = pieces.try_for_each(|piece| reader.feed(piece, &mut chunks));
    let _failed = fed.and_then(|()| reader.finish(&mut chunks));
    chunks
}
