//! Canceling and dropping end a stream immediately.

use std::time::Duration;

use futures::{FutureExt, StreamExt};
use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon_types::{ChunkStream, ProviderError, ProviderErrorKind};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::support::{Item, done, model, open, piece, text, user};

fn cancelled() -> Item {
    Err(ProviderError::new(ProviderErrorKind::Cancelled, "the call was canceled"))
}

fn open_turn(turn: Turn) -> (ChunkStream, CancellationToken) {
    open(&ScriptedProvider::new(Scenario::new().turn(turn)), user("go"))
}

/// Cancels after a second of silence; returns the chunks and the time until the end.
async fn cancel_in_silence(turn: Turn) -> (Vec<Item>, u128) {
    let (stream, cancel) = open_turn(turn);
    let began = Instant::now();
    let playing = tokio::spawn(stream.collect::<Vec<_>>());
    tokio::time::sleep(Duration::from_secs(1)).await;
    cancel.cancel();
    (playing.await.unwrap(), began.elapsed().as_millis())
}

#[tokio::test(start_paused = true)]
async fn delay_ends_when_canceled() {
    let turn = Turn::say("a").delay(Duration::from_secs(3_600)).text("b");
    assert_eq!(cancel_in_silence(turn).await, (vec![model(), piece("a"), cancelled()], 1_000));
}

#[tokio::test(start_paused = true)]
async fn hang_ends_when_canceled() {
    assert_eq!(
        cancel_in_silence(Turn::say("a").hang()).await,
        (vec![model(), piece("a"), cancelled()], 1_000)
    );
}

#[tokio::test]
async fn hang_sends_nothing() {
    let (mut stream, _cancel) = open_turn(Turn::new().hang());
    assert_eq!(stream.next().await, Some(model()));
    for _ in 0..3 {
        assert_eq!(stream.next().now_or_never(), None);
    }
}

#[tokio::test]
async fn ready_chunks_stop_when_canceled() {
    let (mut stream, cancel) = open_turn(Turn::say("a b c"));
    let first: Vec<_> = stream.by_ref().take(2).collect().await;
    assert_eq!(first, [model(), piece("a ")]);
    cancel.cancel();
    assert_eq!(stream.collect::<Vec<_>>().await, [cancelled()]);
}

#[tokio::test]
async fn nothing_follows_done() {
    let (mut stream, cancel) = open_turn(Turn::say("a"));
    let all: Vec<_> = stream.by_ref().take(3).collect().await;
    assert_eq!(all, [model(), piece("a"), done(rheon_types::StopReason::Stop)]);
    cancel.cancel();
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn call_canceled_before_the_start_uses_no_turn() {
    let provider = ScriptedProvider::new(Scenario::new().turn("one"));
    let (stream, cancel) = open(&provider, user("a"));
    cancel.cancel();
    assert_eq!(stream.collect::<Vec<_>>().await, [cancelled()]);
    assert_eq!(provider.request_count(), 0);
    assert_eq!(text(&provider, user("b")).await, "one");
}

#[tokio::test(start_paused = true)]
async fn dropped_stream_leaves_nothing_behind() {
    let scenario = Scenario::new()
        .turn(Turn::new().delay(Duration::from_secs(1)))
        .turn(Turn::new().hang())
        .turn(Turn::say("a b c"))
        .turn("next");
    let provider = ScriptedProvider::new(scenario);
    for _ in 0..3 {
        let (mut stream, cancel) = open(&provider, user("x"));
        assert_eq!(stream.next().await, Some(model()));
        let _waiting = stream.next().now_or_never();
        drop(stream);
        cancel.cancel();
    }
    assert_eq!(text(&provider, user("x")).await, "next");
    assert_eq!(provider.request_count(), 4);
}
