//! Streaming over a real socket: nothing is sent early, and it ends immediately.

use futures::StreamExt;
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{FakeReply, Fault, ReplyEnd};
use rheon_types::{Chunk, ChunkStream, ProviderError, ProviderErrorKind};
use tokio_util::sync::CancellationToken;

use super::fixture::{Answer, Fixture};
use super::recording::{Recording, Tape, rich};

/// A reply that stalls after its first text.
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
    ProviderError::new(ProviderErrorKind::Cancelled, "the call was canceled")
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    for wire in WireKind::ALL {
        let fixture = Fixture::wire(wire, FakeReply::text("x")).await;
        let stream = fixture.resolved.provider.stream(fixture.request(), CancellationToken::new());
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        assert_eq!(fixture.server.connections(), 0, "{wire:?}");
        assert_eq!(Answer::of(stream.collect().await).summary(), "Stop \"x\"", "{wire:?}");
    }
}

#[tokio::test]
async fn cancelling_in_the_middle_closes_the_connection() {
    for wire in WireKind::ALL {
        let fixture = Fixture::wire(wire, stalling(wire).await).await;
        let cancel = CancellationToken::new();
        let mut stream = fixture.resolved.provider.stream(fixture.request(), cancel.clone());
        until_text(&mut stream).await;
        cancel.cancel();
        assert_eq!(stream.next().await, Some(Err(cancelled())), "{wire:?}");
        // The stream still exists.
        assert_eq!(fixture.server.wait_for_end(1).await, ReplyEnd::Disconnected, "{wire:?}");
        assert_eq!(stream.next().await, None, "{wire:?}");
    }
}

#[tokio::test]
async fn cancelling_before_the_first_byte_closes_the_connection() {
    for wire in WireKind::ALL {
        let fixture = Fixture::wire(wire, FakeReply::fault(Fault::NeverAnswer)).await;
        let cancel = CancellationToken::new();
        let stream = fixture.resolved.provider.stream(fixture.request(), cancel.clone());
        let answer = tokio::spawn(stream.collect::<Vec<_>>());
        fixture.server.wait_for_stall(1).await;
        cancel.cancel();
        assert_eq!(answer.await.unwrap(), [Err(cancelled())], "{wire:?}");
        assert_eq!(fixture.server.wait_for_end(1).await, ReplyEnd::Disconnected, "{wire:?}");
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    for wire in WireKind::ALL {
        let fixture = Fixture::wire(wire, stalling(wire).await).await;
        let mut stream = fixture.resolved.provider.stream(fixture.request(), CancellationToken::new());
        until_text(&mut stream).await;
        drop(stream);
        assert_eq!(fixture.server.wait_for_end(1).await, ReplyEnd::Disconnected, "{wire:?}");
    }
}

#[tokio::test]
async fn responses_share_one_connection() {
    for wire in WireKind::ALL {
        let fixture = Fixture::wire(wire, [rich(), rich(), rich()]).await;
        for _ in 0..3 {
            let answer = fixture.ask(fixture.request()).await;
            assert!(answer.is_done(), "{wire:?}: {answer:?}");
        }
        assert_eq!((fixture.server.requests().len(), fixture.server.connections()), (3, 1), "{wire:?}");
    }
}

#[tokio::test]
async fn response_in_single_bytes_or_compressed_is_the_same() {
    for wire in WireKind::ALL {
        let read = Recording::of(wire, rich()).await.whole().finished();
        let fixture = Fixture::wire(wire, [rich().with(Fault::Pieces(1)), rich().with(Fault::Gzip)]).await;
        for way in ["one byte", "gzip"] {
            let answer = fixture.ask(fixture.request()).await;
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
async fn connection_cut_at_any_byte_is_a_network_error() {
    for wire in WireKind::ALL {
        let whole = Recording::of(wire, rich()).await;
        let length = whole.bytes.len();
        let positions = [0, 1, length / 5, length / 3, length / 2, length * 2 / 3, length - 1];
        let replies: Vec<FakeReply> =
            positions.iter().map(|position| rich().with(Fault::CutAtByte(*position))).collect();
        let fixture = Fixture::wire(wire, replies).await;
        for position in positions {
            let answer = fixture.ask(fixture.request()).await;
            assert!(whole.whole().text().starts_with(&answer.text()), "{wire:?} {position}");
            if answer.is_done() {
                // The cut is after the end of the response.
                assert_eq!(answer.finished().content.len(), whole.whole().finished().content.len());
                continue;
            }
            let kind = answer.error.map(|error| error.kind);
            assert_eq!(kind, Some(ProviderErrorKind::Network), "{wire:?} {position}");
        }
    }
}
