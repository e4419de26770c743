//! What is dropped is restored exactly, and really is dropped.

use std::sync::Arc;

use rheon_testkit::{FnTool, Scenario, Trace, Turn, echo, scripted};
use rheon_types::{
    AgentEvent, Amendment, Answer, Event, Hook, MessageEvent, ProviderError, ProviderErrorKind, ToolCall,
    ToolError, ToolResult,
};
use serde_json::json;
use serde_json::value::RawValue;

use super::{DedupError, Deduplicator, Expander};

fn durable(trace: &Trace) -> Vec<Event> {
    trace.events().into_iter().filter(|event| event.kind.is_durable()).collect()
}

fn round_trip(events: &[Event]) -> (Vec<Event>, usize, usize) {
    let (mut deduplicator, mut expander) = (Deduplicator::new(), Expander::new());
    let (mut whole_bytes, mut dedup_bytes) = (0, 0);
    let back = events
        .iter()
        .map(|event| {
            let stored = deduplicator.dedup(event).unwrap();
            deduplicator.observe(event);
            whole_bytes += serde_json::to_string(event).unwrap().len();
            dedup_bytes += stored.json().get().len();
            let read: Box<RawValue> = serde_json::from_str(stored.json().get()).unwrap();
            expander.expand(read.get()).unwrap()
        })
        .collect();
    (back, whole_bytes, dedup_bytes)
}

/// Changes results, so that the model reads something other than the tool returned.
struct Amends;

impl Hook for Amends {
    fn after_tool<'a>(&'a self, call: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        let context = if call.id.as_str() == "b" { vec!["mind".into()] } else { Vec::new() };
        Amendment { context, ..Amendment::default() }.into()
    }
}

fn scenario(text: &str) -> Scenario {
    Scenario::new()
        .turn(Turn::new().text("half").cut())
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::Network, "gone")))
        .turn(
            Turn::new()
                .thinking("hm")
                .text(text)
                .tool_call_with_id("a", "echo", json!({ "text": text }))
                .tool_call_with_id("b", "echo", json!({ "text": text }))
                .tool_call_with_id("c", "fails", json!({}))
                .tool_call_with_id("d", "nowhere", json!({})),
        )
        .turn(text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_run_is_restored_exactly_and_stored_once() {
    let text = "a long text, ".repeat(400);
    let fails = FnTool::new("fails", |_, _| async { Err(ToolError::Failed("it broke".into())) });
    let ran = scripted(scenario(&text))
        .tool(echo())
        .tool(fails)
        .with(|builder| builder.hook(Amends))
        .run("go")
        .await;
    let events = durable(&ran.trace);
    let (back, whole_bytes, dedup_bytes) = round_trip(&events);
    assert_eq!(back, events);
    // The model wrote the text twice and in two calls; two tools returned it, and one result was amended. That is
    // seven times. Complete events repeat it far more often.
    assert!(dedup_bytes < 9 * text.len(), "{dedup_bytes} bytes for a text of {}", text.len());
    assert!(whole_bytes > 25 * text.len(), "{whole_bytes}");
}

#[tokio::test(start_paused = true)]
async fn runs_stopped_at_any_event_are_restored() {
    let mut stop_at = 1;
    loop {
        let (agent, trace, _) = scripted(scenario("hi")).tool(echo()).build();
        let mut stream = agent.run_stream("go").unwrap();
        let mut seen = 0;
        while stream.next().await.is_some() {
            seen += 1;
            if seen == stop_at {
                stream.cancel();
            }
        }
        let events = durable(&trace);
        assert_eq!(round_trip(&events).0, events, "stopped after {stop_at}");
        if seen < stop_at {
            break;
        }
        stop_at += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn interleaved_runs_do_not_mix() {
    let one = durable(&scripted(scenario("one")).tool(echo()).run("go").await.trace);
    let mut other = durable(&scripted(scenario("other")).tool(echo()).run("go").await.trace);
    other.iter_mut().for_each(|event| event.run_id = Some("another".into()));
    let mixed: Vec<Event> = one.into_iter().zip(other).flat_map(|(one, other)| [one, other]).collect();
    assert_eq!(round_trip(&mixed).0, mixed);
}

#[tokio::test(start_paused = true)]
async fn a_missing_reference_is_an_error() {
    let events = durable(&scripted(scenario("hi")).tool(echo()).run("go").await.trace);
    let mut deduplicator = Deduplicator::new();
    let keep = |event| {
        let stored = deduplicator.dedup(event).unwrap();
        deduplicator.observe(event);
        stored
    };
    let stored: Vec<_> = events.iter().map(keep).collect();
    let end = events
        .iter()
        .position(|event| matches!(event.kind, AgentEvent::Message(MessageEvent::End { .. })))
        .unwrap();
    let lost = Expander::new().expand(stored[end].json().get());
    assert_eq!(lost, Err(DedupError::Missing { seq: events[end].seq }));
    // A text that looks like a deduplicated event is only a text.
    let text = Arc::new("\"slim.message_end\"".to_owned());
    let events = durable(&scripted(scenario(&text)).tool(echo()).run(text.as_str()).await.trace);
    assert_eq!(round_trip(&events).0, events);
}
