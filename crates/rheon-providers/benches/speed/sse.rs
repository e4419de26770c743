//! Server-sent events: our decoder, comparable crates, and a bare search for line ends as the lower bound.

use std::convert::Infallible;

use eventsource_stream::Eventsource as _;
use futures::{FutureExt as _, Stream, StreamExt as _, stream};
use rheon_providers::frame::{Frame, SseDecoder};
use rheon_providers::wire::WireKind;

use crate::race::{race, rate, way};
use crate::support::answers::Answers;
use crate::support::report;

const STREAM_BYTES: usize = 64 * 1024 * 1024;
const ROUNDS: usize = 7;

/// The number of events or lines, and their bytes.
type Sum = (usize, usize);

pub(crate) fn measure() {
    let answers = Answers::new(WireKind::Anthropic, STREAM_BYTES);
    let ways = [
        way("sse/limit", || limit(&answers)),
        way("sse/rheon", || rheon(&answers)),
        way("sse/eventsource_stream", || eventsource_stream(&answers)),
        way("sse/sse_stream", || sse_stream(&answers)),
    ];
    let ran = race(ROUNDS, ways);
    let [_, ours, others @ ..] = ran.as_slice() else { panic!("a way is missing") };
    for other in others {
        assert_eq!(ours.made, other.made, "{} sees other events", other.name);
    }
    for way in &ran {
        report(way.name, rate(answers.bytes.len(), way.best));
    }
}

fn limit(answers: &Answers) -> Sum {
    let lines = answers.pieces().map(|piece| memchr::memchr_iter(b'\n', &piece).count()).sum();
    (lines, answers.bytes.len())
}

fn rheon(answers: &Answers) -> Sum {
    let mut decoder = SseDecoder::new();
    let mut sum = (0, 0);
    let mut sink = |frame: Frame<'_>| {
        sum = (sum.0 + 1, sum.1 + frame.name.len() + frame.data.len());
        Ok(())
    };
    for piece in answers.pieces() {
        decoder.feed(&piece, &mut sink).expect("the stream is well formed");
    }
    decoder.finish(&mut sink).expect("the stream is well formed");
    sum
}

fn eventsource_stream(answers: &Answers) -> Sum {
    let pieces = stream::iter(answers.pieces().map(Ok::<_, Infallible>));
    drain(pieces.eventsource(), |event| {
        let event = event.expect("the stream is well formed");
        event.event.len() + event.data.len()
    })
}

fn sse_stream(answers: &Answers) -> Sum {
    let pieces = stream::iter(answers.pieces().map(Ok::<_, Infallible>));
    drain(sse_stream::SseStream::from_bytes_stream(pieces), |event| {
        let event = event.expect("the stream is well formed");
        event.event.map_or(0, |name| name.len()) + event.data.map_or(0, |data| data.len())
    })
}

/// The stream is always ready, so neither crate pays for waiting.
fn drain<T>(events: impl Stream<Item = T>, bytes: impl Fn(T) -> usize) -> Sum {
    let sum = events.fold((0, 0), |(count, sum), event| {
        let added = bytes(event);
        async move { (count + 1, sum + added) }
    });
    sum.now_or_never().expect("the stream is always ready")
}
