//! Whole responses: from bytes to message content, on every wire.

use std::collections::VecDeque;
use std::convert::Infallible;

use eventsource_stream::Eventsource as _;
use futures::{FutureExt as _, StreamExt as _, stream};
use rheon_providers::frame::FrameDecoder;
use rheon_providers::wire::{ResponseReader, WireKind};
use rheon_types::{Content, Draft, StopReason};
use serde_json::Value;

use crate::race::{race, rate, way};
use crate::support::answers::{Answers, PIECE_BYTES};
use crate::support::report;

const STREAM_BYTES: usize = 32 * 1024 * 1024;
const ROUNDS: usize = 5;

/// The number of blocks or events, and the bytes of text.
type Sum = (usize, usize);

pub(crate) fn measure() {
    for wire in WireKind::ALL {
        let answers = Answers::new(wire, STREAM_BYTES);
        let ways = [way("rheon", || content(&answers)), way("values", || values(&answers))];
        let ran = race(ROUNDS, ways);
        let [ours, _] = ran.as_slice() else { panic!("a way is missing") };
        assert_eq!(ours.made.0, answers.each().count(), "each answer is one block of text");
        for way in &ran {
            report(&format!("content/{}/{}", wire.as_str(), way.name), rate(answers.bytes.len(), way.best));
        }
        if wire == WireKind::Anthropic {
            let ran = race(ROUNDS, [way("client", || by_hand(&answers))]);
            for way in &ran {
                assert_eq!(way.made.1, ours.made.1, "the client by hand sees another text");
                report(&format!("content/anthropic/{}", way.name), rate(answers.bytes.len(), way.best));
            }
        }
    }
}

fn content(answers: &Answers) -> Sum {
    let mut sum = (0, 0);
    for answer in answers.each() {
        let mut reader = ResponseReader::new(answers.wire, answers.wire.framing(), "vendor/model");
        let mut chunks = VecDeque::new();
        let mut draft = Draft::new();
        let mut take = |chunks: &mut VecDeque<_>| {
            for chunk in chunks.drain(..) {
                draft.push(&chunk).expect("the answer fits");
            }
        };
        for piece in answer.chunks(PIECE_BYTES) {
            reader.feed(piece, &mut chunks).expect("the stream is well formed");
            take(&mut chunks);
        }
        reader.finish(&mut chunks).expect("the stream is well formed");
        take(&mut chunks);
        let finished = draft.finish(StopReason::Error);
        assert_eq!(finished.stop_reason, StopReason::Stop, "the answer is complete");
        let bytes = finished.content.iter().map(Content::bytes).sum::<usize>();
        sum = (sum.0 + finished.content.len(), sum.1 + bytes);
    }
    sum
}

/// Each event as a JSON value, with our own frames: measures JSON parsing only.
fn values(answers: &Answers) -> Sum {
    let mut sum = (0, 0);
    for answer in answers.each() {
        let mut decoder = FrameDecoder::new(answers.wire.framing());
        let mut sink = |frame: rheon_providers::frame::Frame<'_>| {
            let value: Value = serde_json::from_str(frame.data).unwrap_or_default();
            sum = (sum.0 + 1, sum.1 + value.as_object().map_or(0, serde_json::Map::len));
            Ok(())
        };
        for piece in answer.chunks(PIECE_BYTES) {
            decoder.feed(piece, &mut sink).expect("the stream is well formed");
        }
        decoder.finish(&mut sink).expect("the stream is well formed");
    }
    sum
}

/// A typical hand-written Anthropic client: a crate for the events, a value for each, a string for the text.
fn by_hand(answers: &Answers) -> Sum {
    let mut sum = (0, 0);
    for answer in answers.each() {
        let pieces = (0..answer.len())
            .step_by(PIECE_BYTES)
            .map(|start| Ok::<_, Infallible>(answer.slice(start..answer.len().min(start + PIECE_BYTES))));
        let text = stream::iter(pieces).eventsource().fold(String::new(), |mut text, event| {
            let event = event.expect("the stream is well formed");
            let value: Value = serde_json::from_str(&event.data).expect("the stream is well formed");
            if let Some(delta) = value.pointer("/delta/text").and_then(Value::as_str) {
                text.push_str(delta);
            }
            async { text }
        });
        let text = text.now_or_never().expect("the stream is always ready");
        sum = (sum.0 + 1, sum.1 + text.len());
    }
    sum
}
