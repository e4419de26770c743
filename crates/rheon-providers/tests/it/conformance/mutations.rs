//! Bytes that no service would send: never a panic, always an end.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use rheon_providers::frame::Framing;
use rheon_providers::wire::WireKind;
use rheon_types::Draft;

use super::recording::{Recording, rich};

/// A response of every wire.
static RECORDINGS: LazyLock<Vec<Recording>> = LazyLock::new(|| {
    let record = async || {
        let mut recordings = Vec::new();
        for wire in WireKind::ALL {
            recordings.push(Recording::of(wire, rich()).await);
        }
        recordings
    };
    // A separate thread, because a runtime cannot start within another.
    let thread = std::thread::spawn(move || tokio::runtime::Runtime::new().unwrap().block_on(record()));
    thread.join().unwrap()
});

/// A mutation of a stream.
#[derive(Debug, Clone)]
enum Change {
    Flip { at: usize, bits: u8 },
    Delete { at: usize, bytes: usize },
    Repeat { at: usize, bytes: usize },
    Swap { at: usize, with: usize, bytes: usize },
    Insert { at: usize, bytes: Vec<u8> },
}

fn change() -> impl Strategy<Value = Change> {
    let bytes = 0..400_usize;
    prop_oneof![
        (any::<usize>(), 1..=u8::MAX).prop_map(|(at, bits)| Change::Flip { at, bits }),
        (any::<usize>(), bytes.clone()).prop_map(|(at, bytes)| Change::Delete { at, bytes }),
        (any::<usize>(), bytes.clone()).prop_map(|(at, bytes)| Change::Repeat { at, bytes }),
        (any::<usize>(), any::<usize>(), bytes).prop_map(|(at, with, bytes)| Change::Swap {
            at,
            with,
            bytes
        }),
        (any::<usize>(), vec(any::<u8>(), 0..40)).prop_map(|(at, bytes)| Change::Insert { at, bytes }),
    ]
}

fn apply(change: &Change, stream: &mut Vec<u8>) {
    let length = stream.len().max(1);
    match change {
        Change::Flip { at, bits } => {
            if let Some(byte) = stream.get_mut(at % length) {
                *byte ^= bits;
            }
        }
        Change::Delete { at, bytes } => {
            let at = (at % length).min(stream.len());
            stream.drain(at..(at + bytes).min(stream.len()));
        }
        Change::Repeat { at, bytes } => {
            let at = (at % length).min(stream.len());
            let again = stream[at..(at + bytes).min(stream.len())].to_vec();
            stream.splice(at..at, again);
        }
        Change::Swap { at, with, bytes } => {
            let (at, with) = (at % length, with % length);
            let (first, second) = (at.min(with), at.max(with));
            let bytes = (*bytes).min(second - first).min(stream.len() - second.min(stream.len()));
            let (head, tail) = stream.split_at_mut(second);
            head[first..first + bytes].swap_with_slice(&mut tail[..bytes]);
        }
        Change::Insert { at, bytes } => {
            let at = (at % length).min(stream.len());
            stream.splice(at..at, bytes.iter().copied());
        }
    }
}

/// Reads `bytes` in pieces of `length`. The chunks can be added to a draft, up to the first error.
fn read(recording: &Recording, bytes: &[u8], length: usize) {
    let answer = recording.read(bytes.chunks(length.max(1)));
    assert_eq!(answer, recording.read([bytes]), "{:?} depends on its pieces", recording.wire);
    let mut draft = Draft::new();
    let _refused = answer.chunks.iter().try_for_each(|chunk| draft.push(chunk));
    drop(draft.finish(rheon_types::StopReason::Error));
}

proptest! {
    #[test]
    fn any_bytes_end(bytes in vec(any::<u8>(), 0..2_000), length in 1..100_usize) {
        for recording in RECORDINGS.iter() {
            for framing in [Framing::Sse, Framing::EventStream, Framing::Lines] {
                let reader = Recording { framing, bytes: Vec::new(), origin: recording.origin.clone(), ..*recording };
                read(&reader, &bytes, length);
            }
        }
    }

    #[test]
    fn any_mutation_of_a_stream_ends(changes in vec(change(), 1..5), length in 1..3_000_usize) {
        for recording in RECORDINGS.iter() {
            let mut bytes = recording.bytes.clone();
            changes.iter().for_each(|change| apply(change, &mut bytes));
            read(recording, &bytes, length);
        }
    }

    #[test]
    fn any_order_of_events_ends(order in vec(any::<usize>(), 0..60), length in 1..3_000_usize) {
        for recording in RECORDINGS.iter().filter(|recording| recording.framing == Framing::Sse) {
            let text = String::from_utf8(recording.bytes.clone()).unwrap().replace("\r\n", "\n");
            let events: Vec<&str> = text.split_inclusive("\n\n").collect();
            let mixed: String = order.iter().filter_map(|position| events.get(position % events.len()).copied()).collect();
            read(recording, mixed.as_bytes(), length);
        }
    }
}
