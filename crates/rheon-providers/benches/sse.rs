//! Throughput of the path from bytes to an answer, beside the crates one would otherwise take, and beside a bare search for
//! line ends, which is the limit. One table; the best of a few interleaved rounds.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a figure"
)]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use eventsource_stream::Eventsource as _;
use futures::{FutureExt as _, Stream, StreamExt as _, stream};
use rheon_providers::frame::{Framing, SseDecoder};
use rheon_providers::wire::{Reader, WireKind};
use rheon_types::{Content, Draft, StopReason};

const STREAM_BYTES: usize = 64 * 1024 * 1024;
const PIECE_BYTES: usize = 4 * 1024;
const ROUNDS: usize = 5;

/// What one way made of the stream: how many events or lines, and how many bytes they carried.
type Sum = (usize, usize);

/// One way through the stream.
struct Way {
    name: &'static str,
    run: fn(&Answers) -> Sum,
    best: Duration,
    sum: Sum,
}

fn main() {
    let answers = Answers::new();
    let mut ways = [
        ("memchr: count line ends", limit as fn(&Answers) -> Sum),
        ("rheon SseDecoder", rheon),
        ("eventsource-stream", eventsource_stream),
        ("sse-stream", sse_stream),
        ("rheon bytes -> content (anthropic)", content),
    ]
    .map(|(name, run)| Way { name, run, best: Duration::MAX, sum: (0, 0) });
    for _ in 0..ROUNDS {
        for way in &mut ways {
            let start = Instant::now();
            way.sum = black_box((way.run)(black_box(&answers)));
            way.best = way.best.min(start.elapsed());
        }
    }
    report(&answers, &ways);
}

fn report(answers: &Answers, ways: &[Way; 5]) {
    let [limit, ours, first, second, whole] = ways;
    assert_eq!(ours.sum, first.sum, "eventsource-stream sees other events");
    assert_eq!(ours.sum, second.sum, "sse-stream sees other events");
    let megabytes = answers.bytes.len() as f64 / 1e6;
    let rate = |way: &Way| megabytes / way.best.as_secs_f64();
    println!(
        "{megabytes:.0} MB of Anthropic events in pieces of {PIECE_BYTES} bytes, {} events, best of {ROUNDS} rounds\n",
        ours.sum.0
    );
    println!("| way | MB/s | of the limit | SseDecoder is faster by |");
    println!("|---|---:|---:|---:|");
    for way in ways {
        let share = 100.0 * rate(way) / rate(limit);
        println!("| {} | {:.0} | {share:.1} % | {:.1}x |", way.name, rate(way), rate(ours) / rate(way));
    }
    let (blocks, text_bytes) = whole.sum;
    println!(
        "\nbytes -> content: {} answers, {blocks} blocks, {text_bytes} bytes of text",
        answers.ends.len()
    );
}

/// The stream: answers one after the other, and where each ends.
struct Answers {
    bytes: Bytes,
    ends: Vec<usize>,
}

impl Answers {
    /// Answers of some thousand text deltas each. No two deltas of an answer are alike.
    fn new() -> Self {
        let mut text = String::with_capacity(STREAM_BYTES + 1024 * 1024);
        let mut ends = Vec::new();
        let mut number = 0;
        while text.len() < STREAM_BYTES {
            write_answer(&mut text, &mut number).expect("a string takes all that is written");
            ends.push(text.len());
        }
        Self { bytes: text.into(), ends }
    }

    fn pieces(&self) -> impl Iterator<Item = Bytes> + '_ {
        (0..self.bytes.len())
            .step_by(PIECE_BYTES)
            .map(|start| self.bytes.slice(start..self.bytes.len().min(start + PIECE_BYTES)))
    }
}

fn write_answer(text: &mut String, number: &mut usize) -> std::fmt::Result {
    const WORDS: [&str; 12] = [
        " the",
        " parser",
        " keeps",
        "\\n\\n",
        " what",
        " it",
        " has not",
        " na\u{ef}ve",
        " `Result`",
        ",",
        " read \\\"once\\\"",
        " \u{2192}",
    ];
    let id = *number;
    write!(
        text,
        "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"id\":\"msg_{id:024}\",\"type\":\"message\",\
         \"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\
         \"usage\":{{\"input_tokens\":25,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":12000,\
         \"output_tokens\":1}}}}}}\n\nevent: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\
         \"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\nevent: ping\ndata: {{\"type\": \"ping\"}}\n\n"
    )?;
    for _ in 0..4_000 {
        *number += 1;
        text.push_str(
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":\
             {\"type\":\"text_delta\",\"text\":\"",
        );
        for step in 0..=*number % 3 {
            text.push_str(WORDS.get((*number * 7 + step * 5) % WORDS.len()).copied().unwrap_or_default());
        }
        write!(text, " {number}\"}}}}\n\n")?;
    }
    write!(
        text,
        "event: content_block_stop\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\nevent: message_delta\ndata: \
         {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\",\"stop_sequence\":null}},\
         \"usage\":{{\"output_tokens\":4000}}}}\n\nevent: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
    )
}

fn limit(answers: &Answers) -> Sum {
    let lines = answers.pieces().map(|piece| memchr::memchr_iter(b'\n', &piece).count()).sum();
    (lines, answers.bytes.len())
}

fn rheon(answers: &Answers) -> Sum {
    let mut decoder = SseDecoder::new();
    let mut sum = (0, 0);
    let mut sink = |frame: rheon_providers::frame::Frame<'_>| {
        sum = (sum.0 + 1, sum.1 + frame.name.len() + frame.data.len());
        Ok(())
    };
    for piece in answers.pieces() {
        decoder.feed(&piece, &mut sink).expect("the stream is well formed");
    }
    decoder.finish(&mut sink).expect("the stream is well formed");
    sum
}

/// The stream is always ready, so neither crate pays for waiting.
fn drain<T>(events: impl Stream<Item = T>, bytes: impl Fn(T) -> usize) -> Sum {
    let sum = events.fold((0, 0), |(count, sum), event| {
        let added = bytes(event);
        async move { (count + 1, sum + added) }
    });
    sum.now_or_never().expect("the stream is always ready")
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

fn content(answers: &Answers) -> Sum {
    let mut sum = (0, 0);
    let mut start = 0;
    for end in &answers.ends {
        let answer = answers.bytes.slice(start..*end);
        start = *end;
        let mut reader = Reader::new(WireKind::Anthropic, Framing::Sse, "anthropic/claude-sonnet-4-5");
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
        sum = (
            sum.0 + finished.content.len(),
            sum.1 + finished.content.iter().map(Content::bytes).sum::<usize>(),
        );
    }
    sum
}
