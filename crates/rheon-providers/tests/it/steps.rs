//! What each step does to the stream.

use std::time::Duration;

use futures::StreamExt;
use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon_types::{
    Chunk, Provider, ProviderError, ProviderErrorKind, Signature, SignatureKind, StopReason, Usage,
};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{Item, ask, done, model, open, piece, play, result, text, user};

fn start(index: u32, id: &str, name: &str) -> Item {
    Ok(Chunk::ToolCallStart { index, id: id.into(), name: name.into() })
}

fn arguments(index: u32, delta: &str) -> Item {
    Ok(Chunk::ToolCallDelta { index, delta: delta.into() })
}

fn end(index: u32) -> Item {
    Ok(Chunk::ToolCallEnd { index })
}

async fn play_turn(turn: Turn) -> Vec<Item> {
    play(Scenario::new().turn(turn)).await
}

#[tokio::test]
async fn text_streams_word_by_word_with_usage_before_the_end() {
    let usage = Usage { input: 5, output: 2, ..Usage::default() };
    assert_eq!(
        play_turn(Turn::say("Hello, wide world").usage(usage)).await,
        [
            model(),
            piece("Hello, "),
            piece("wide "),
            piece("world"),
            Ok(Chunk::Usage { usage }),
            done(StopReason::Stop)
        ]
    );
}

#[tokio::test]
async fn model_and_stop_reason_can_be_set_and_text_is_a_turn() {
    let scenario = Scenario::new().model("big").turn("a").turn(Turn::say("b").stop(StopReason::Length));
    let provider = ScriptedProvider::new(scenario);
    let big = || Ok(Chunk::Model { model: "big".into() });
    assert_eq!(ask(&provider, user("x")).await, [big(), piece("a"), done(StopReason::Stop)]);
    assert_eq!(ask(&provider, user("x")).await, [big(), piece("b"), done(StopReason::Length)]);
    assert_eq!(provider.id(), "scripted");
}

#[tokio::test]
async fn turn_without_steps_is_empty_and_empty_text_is_an_empty_delta() {
    assert_eq!(play_turn(Turn::new()).await, [model(), done(StopReason::Stop)]);
    assert_eq!(play_turn(Turn::say("")).await, [model(), piece(""), done(StopReason::Stop)]);
}

#[tokio::test]
async fn thinking_is_signed_if_a_signature_is_given() {
    let thought = |delta: &str| Ok(Chunk::Thinking { delta: delta.into() });
    assert_eq!(
        play_turn(Turn::new().signed_thinking("héé", "sig").chunked(2).thinking("so")).await,
        [
            model(),
            thought("hé"),
            thought("é"),
            Ok(Chunk::Signature {
                signature: Box::new(Signature {
                    data: "sig".into(),
                    kind: SignatureKind::Proof,
                    id: None,
                    origin: "scripted".into(),
                }),
            }),
            thought("so"),
            done(StopReason::Stop)
        ]
    );
}

#[tokio::test]
async fn tool_calls_get_ids_from_request_and_index() {
    let turn = Turn::call("read", json!({ "path": "a" }))
        .tool_call_with_id("mine", "read", json!({}))
        .tool_call_with_id("", "read", json!({}))
        .repeat();
    let provider = ScriptedProvider::new(Scenario::new().turn(turn));
    let expected = |first: &str| {
        [
            model(),
            start(0, first, "read"),
            arguments(0, r#"{"path":"a"}"#),
            end(0),
            start(1, "mine", "read"),
            arguments(1, "{}"),
            end(1),
            start(2, "", "read"),
            arguments(2, "{}"),
            end(2),
            done(StopReason::ToolUse),
        ]
    };
    assert_eq!(ask(&provider, user("x")).await, expected("call_1_0"));
    assert_eq!(ask(&provider, user("x")).await, expected("call_2_0"));
}

#[tokio::test]
async fn raw_arguments_are_sent_verbatim_and_partial_call_stays_incomplete() {
    assert_eq!(
        play_turn(
            Turn::new().raw_tool_call("a", "t", "").raw_tool_call("b", "t", "{\"pa").chunked(3).partial()
        )
        .await,
        [
            model(),
            start(0, "a", "t"),
            end(0),
            start(1, "b", "t"),
            arguments(1, "{\"p"),
            arguments(1, "a"),
            done(StopReason::ToolUse)
        ]
    );
}

#[tokio::test]
async fn error_ends_the_stream() {
    let error = ProviderError::new(ProviderErrorKind::Overloaded, "busy").with_retry_after_ms(30);
    assert_eq!(play_turn(Turn::fail(error.clone())).await, [model(), Err(error.clone())]);
    assert_eq!(
        play_turn(Turn::say("par").error(error.clone()).text("lost")).await,
        [model(), piece("par"), Err(error)]
    );
}

#[tokio::test]
async fn cut_stream_ends_without_done() {
    assert_eq!(play_turn(Turn::say("par").cut().usage(Usage::default())).await, [model(), piece("par")]);
}

#[tokio::test(start_paused = true)]
async fn delay_waits() {
    let scenario = Scenario::new().turn(Turn::say("a").delay(Duration::from_millis(1_500)).text("b"));
    let (mut stream, _cancel) = open(&ScriptedProvider::new(scenario), user("go"));
    let began = Instant::now();
    let mut seen = Vec::new();
    while let Some(item) = stream.next().await {
        seen.push((began.elapsed().as_millis(), item));
    }
    assert_eq!(seen, [(0, model()), (0, piece("a")), (1_500, piece("b")), (1_500, done(StopReason::Stop))]);
}

#[tokio::test]
async fn placeholders_quote_the_request() {
    let scenario = Scenario::new().turn(Turn::say("{{last_text}} / {{last_tool_result}}").repeat());
    let provider = ScriptedProvider::new(scenario);
    assert_eq!(text(&provider, user("ask")).await, "ask / ");
    assert_eq!(text(&provider, result("t", "two words")).await, "two words / two words");
}

#[tokio::test]
async fn ended_stream_stays_ended() {
    let (mut stream, cancel) = open(&ScriptedProvider::new(Scenario::new().turn("a")), user("go"));
    assert_eq!(stream.by_ref().count().await, 3);
    cancel.cancel();
    assert_eq!(stream.next().await, None);
}
