//! Answers under way over a real socket: not begun early, ended at once.

use futures::StreamExt;
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{FakeReply, Fault, ReplyEnd};
use rheon_types::{Chunk, ChunkStream, ProviderError, ProviderErrorKind};
use tokio_util::sync::CancellationToken;

use super::recording::{Recording, Tape, rich};
use super::stage::{Answer, Stage};

/// A reply that stands still behind its first text.
async fn stalling(wire: WireKind) -> FakeReply {
    let reply = FakeReply::text("one two three").delta_chars(4);
    let event = Tape::new(wire).await.event_where(&reply, |part| !part.text().is_empty()).await;
    reply.with(Fault::StallAfterEvent(event))
}

async fn until_text(stream: &mut ChunkStream) {
    while let Some(item) = stream.next().await {
        if matches!(item.unwrap(), Chunk::Text { .. }) {
            return;
        }
    }
    panic!("no text came");
}

fn cancelled() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the call was cancelled")
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    for wire in WireKind::ALL {
        let stage = Stage::wire(wire, FakeReply::text("x")).await;
        let stream = stage.resolved.provider.stream(stage.request(), CancellationToken::new());
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        assert_eq!(stage.server.connections(), 0, "{wire:?}");
        assert_eq!(Answer::of(stream.collect().await).told(), "Stop \"x\"", "{wire:?}");
    }
}

#[tokio::test]
async fn cancelling_in_the_middle_closes_the_connection_at_once() {
    for wire in WireKind::ALL {
        let stage = Stage::wire(wire, stalling(wire).await).await;
        let cancel = CancellationToken::new();
        let mut stream = stage.resolved.provider.stream(stage.request(), cancel.clone());
        until_text(&mut stream).await;
        cancel.cancel();
        assert_eq!(stream.next().await, Some(Err(cancelled())), "{wire:?}");
        // The stream itself is still there.
        assert_eq!(stage.server.ended(1).await, ReplyEnd::Left, "{wire:?}");
        assert_eq!(stream.next().await, None, "{wire:?}");
    }
}

#[tokio::test]
async fn cancelling_before_the_first_byte_closes_the_connection_at_once() {
    for wire in WireKind::ALL {
        let stage = Stage::wire(wire, FakeReply::fault(Fault::NeverAnswer)).await;
        let cancel = CancellationToken::new();
        let stream = stage.resolved.provider.stream(stage.request(), cancel.clone());
        let answer = tokio::spawn(stream.collect::<Vec<_>>());
        stage.server.stalled(1).await;
        cancel.cancel();
        assert_eq!(answer.await.unwrap(), [Err(cancelled())], "{wire:?}");
        assert_eq!(stage.server.ended(1).await, ReplyEnd::Left, "{wire:?}");
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection_at_once() {
    for wire in WireKind::ALL {
        let stage = Stage::wire(wire, stalling(wire).await).await;
        let mut stream = stage.resolved.provider.stream(stage.request(), CancellationToken::new());
        until_text(&mut stream).await;
        drop(stream);
        assert_eq!(stage.server.ended(1).await, ReplyEnd::Left, "{wire:?}");
    }
}

#[tokio::test]
async fn answers_come_over_one_connection() {
    for wire in WireKind::ALL {
        let stage = Stage::wire(wire, [rich(), rich(), rich()]).await;
        for _ in 0..3 {
            let answer = stage.ask(stage.request()).await;
            assert!(answer.is_done(), "{wire:?}: {answer:?}");
        }
        assert_eq!((stage.server.requests().len(), stage.server.connections()), (3, 1), "{wire:?}");
    }
}

#[tokio::test]
async fn an_answer_in_one_byte_pieces_or_compressed_is_the_same_answer() {
    for wire in WireKind::ALL {
        let read = Recording::of(wire, rich()).await.whole().finished();
        let stage = Stage::wire(wire, [rich().with(Fault::Pieces(1)), rich().with(Fault::Gzip)]).await;
        for way in ["one byte", "gzip"] {
            let answer = stage.ask(stage.request()).await;
            assert_eq!(answer.error, None, "{wire:?} {way}");
            assert_eq!(answer.text(), super::recording::TEXT, "{wire:?} {way}");
            let finished = answer.finished();
            assert_eq!(
                (finished.usage, finished.stop_reason),
                (read.usage, read.stop_reason),
                "{wire:?} {way}"
            );
            assert_eq!(finished.content.len(), read.content.len(), "{wire:?} {way}");
        }
    }
}

#[tokio::test]
async fn a_connection_cut_at_any_byte_is_a_failure_of_the_network() {
    for wire in WireKind::ALL {
        let whole = Recording::of(wire, rich()).await;
        let length = whole.bytes.len();
        let places = [0, 1, length / 5, length / 3, length / 2, length * 2 / 3, length - 1];
        let replies: Vec<FakeReply> =
            places.iter().map(|place| rich().with(Fault::CutAtByte(*place))).collect();
        let stage = Stage::wire(wire, replies).await;
        for place in places {
            let answer = stage.ask(stage.request()).await;
            assert!(whole.whole().text().starts_with(&answer.text()), "{wire:?} {place}");
            if answer.is_done() {
                // What was cut is behind the end.
                assert_eq!(answer.finished().content.len(), whole.whole().finished().content.len());
                continue;
            }
            let kind = answer.error.map(|error| error.kind);
            assert_eq!(kind, Some(ProviderErrorKind::Network), "{wire:?} {place}");
        }
    }
}
