//! Steps as they stream in.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use proptest::prelude::*;
use rheon_testkit::{Scenario, ScriptedProvider, Turn, echo, scripted};
use rheon_types::{Chunk, OutputSchema, Provider, StopReason, Usage};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::decode::{AnswerValue, Steps};
use super::fixtures::{call, characters, done, merged, pieces, request, steps, steps_of, text, tools, user};
use super::head::HEAD_BYTES_MAX;
use super::{LenientTools, PromptedTools};

fn becomes(answer: &str, expected: &[Chunk]) {
    assert_eq!(steps([text(answer), done(StopReason::Stop)]), expected, "{answer}");
    assert_eq!(steps(characters(answer)), expected, "{answer} in characters");
}

fn with_end(calls: &[[Chunk; 3]]) -> Vec<Chunk> {
    calls.iter().flatten().cloned().chain([done(StopReason::ToolUse)]).collect()
}

#[test]
fn answer_streams_as_text() {
    let mut filter = Steps::new(tools(), AnswerValue::Text);
    let mut flows = |piece: &str| {
        let mut out = VecDeque::new();
        filter.push(text(piece), &mut out);
        merged(out)
    };
    assert_eq!(flows("{\"ans"), []);
    assert_eq!(flows("wer\": \"It"), [text("It")]);
    assert_eq!(flows(" is \\u00"), [text(" is ")]);
    assert_eq!(flows("e9\\ud83d"), [text("é")]);
    assert_eq!(flows("\\ude00\\"), [text("😀")]);
    assert_eq!(flows("n.\"}"), [text("\n.")]);
}

#[test]
fn call_streams_its_arguments_verbatim() {
    let written = r#"{"path": "ü \" } 😀", "lines": 10000000000000000000001}"#;
    becomes(
        &format!("{{\"name\": \"read\", \"parameters\": {written}}}"),
        &with_end(&[call(0, "read", written)]),
    );
    becomes(
        &format!("\n {{ \"tool\" :\"read\",\n\"arguments\":{written} }} \n"),
        &with_end(&[call(0, "read", written)]),
    );
    becomes(r#"{"name": "list"}"#, &with_end(&[call(0, "list", "{}")]));
    becomes(
        r#"{"name": "read", "parameters": "{\"path\": \"\\u00e9\"}"}"#,
        &with_end(&[call(0, "read", r#"{"path": "\u00e9"}"#)]),
    );
    becomes(r#"{"name": "list", "parameters": {}, "why": "}"}"#, &with_end(&[call(0, "list", "{}")]));
}

#[test]
fn several_steps_are_read() {
    let list = r#"{"name": "list", "parameters": {}}"#;
    becomes(&format!("{list}\n{list}"), &with_end(&[call(0, "list", "{}"), call(1, "list", "{}")]));
    let mut expected = vec![text("I list.")];
    expected.extend(with_end(&[call(0, "list", "{}")]));
    becomes(&format!("{{\"answer\": \"I list.\"}}{list}"), &expected);
    becomes(r#"{"answer": "a"} {"answer": "b"}"#, &[text("a\nb"), done(StopReason::Stop)]);
}

#[test]
fn text_after_the_steps_is_shown() {
    let list = r#"{"name": "list", "parameters": {}}"#;
    let mut expected: Vec<Chunk> = call(0, "list", "{}").into();
    expected.extend([text("Done."), done(StopReason::ToolUse)]);
    becomes(&format!("{list}\nDone."), &expected);
    becomes(r#"{"answer": "a"} {"b": 1}"#, &[text("a\n{\"b\": 1}"), done(StopReason::Stop)]);
    becomes(r#"{"answer": "a", "b": 1}"#, &[text("a, \"b\": 1}"), done(StopReason::Stop)]);
}

#[test]
fn other_output_is_text_or_a_call_in_another_format() {
    for answer in [
        "Hello.",
        "{\"a\": 1}",
        "{\"name\": \"delete\", \"parameters\": {}}",
        "```rust\nx\n```",
        "{",
        "{\"answer\"",
    ] {
        becomes(answer, &[text(answer), done(StopReason::Stop)]);
    }
    let tagged = r#"<tool_call>{"name": "list", "arguments": {}}</tool_call>"#;
    becomes(tagged, &with_end(&[call(0, "list", "{}")]));
    becomes("```json\n{\"name\": \"list\", \"parameters\": {}}\n```", &with_end(&[call(0, "list", "{}")]));
    becomes("```json\n{\"answer\": \"a\"}\n```\n", &[text("a"), done(StopReason::Stop)]);
    let example = "```json\n{\"name\": \"list\", \"parameters\": {}}\n```\nis a call.";
    becomes(example, &[text(example), done(StopReason::Stop)]);
    becomes("", &[done(StopReason::Stop)]);
}

#[test]
fn answer_that_is_not_a_string_is_shown_as_json() {
    becomes(r#"{"answer": 42}"#, &[text("42"), done(StopReason::Stop)]);
    becomes(r#"{"answer": {"a": ["}"]}}"#, &[text(r#"{"a": ["}"]}"#), done(StopReason::Stop)]);
    let own = steps_of(AnswerValue::Json, characters("{\"answer\": \"a\\nb\"}"));
    assert_eq!(own, [text("\"a\\nb\""), done(StopReason::Stop)]);
}

#[test]
fn partial_call_is_never_complete() {
    let start = Chunk::ToolCallStart { index: 0, id: "call_0".into(), name: "read".into() };
    for (cut, delta) in [
        (r#"{"name": "read", "parameters": {"path": "a"#, r#"{"path": "a"#),
        (r#"{"name": "read", "parameters": {"path": "a"}"#, r#"{"path": "a"}"#),
    ] {
        let delta = Chunk::ToolCallDelta { index: 0, delta: delta.into() };
        assert_eq!(
            steps([text(cut), done(StopReason::Length)]),
            [start.clone(), delta, done(StopReason::Length)]
        );
    }
    let cut = text(r#"{"name": "rea"#);
    assert_eq!(steps([cut.clone(), done(StopReason::Length)]), [cut, done(StopReason::Length)]);
    assert_eq!(
        steps([text("{\"answer\": \"a\\u00"), done(StopReason::Length)]),
        [text("a"), done(StopReason::Length)]
    );
}

#[test]
fn limit_in_the_whitespace_after_a_call_is_harmless() {
    let call_and_blanks = text("{\"name\": \"list\", \"parameters\": {}}\n\n\n");
    assert_eq!(steps([call_and_blanks, done(StopReason::Length)]), with_end(&[call(0, "list", "{}")]));
}

#[test]
fn other_chunks_pass() {
    let others = [
        Chunk::Model { model: "m".into() },
        Chunk::Thinking { delta: "hm".into() },
        Chunk::Usage { usage: Usage { output: 3, ..Usage::default() } },
    ];
    let answer = [text("{\"answer\": \"a\"}"), done(StopReason::Stop)];
    let expected: Vec<_> = others.iter().cloned().chain([text("a"), done(StopReason::Stop)]).collect();
    assert_eq!(steps(others.into_iter().chain(answer)), expected);
}

#[test]
fn native_calls_pass_next_to_steps() {
    let mut chunks = vec![text("{\"name\": \"list\", \"parameters\": {}}")];
    chunks.extend(call(0, "read", "{}"));
    chunks.push(done(StopReason::ToolUse));
    let mut expected: Vec<Chunk> = call(0, "list", "{}").into();
    expected.push(Chunk::ToolCallStart { index: 1, id: "call_0".into(), name: "read".into() });
    expected.extend([Chunk::ToolCallDelta { index: 1, delta: "{}".into() }, Chunk::ToolCallEnd { index: 1 }]);
    expected.push(done(StopReason::ToolUse));
    assert_eq!(steps(chunks), expected);
}

#[test]
fn long_head_and_huge_answer_are_read() {
    let blanks = format!("{{{}\"answer\": \"a\"}}", " ".repeat(HEAD_BYTES_MAX));
    becomes(&blanks, &[text(&blanks), done(StopReason::Stop)]);
    let long = "ü".repeat(2 * 1024 * 1024);
    let answer = format!("{{\"answer\": \"{long}\"}}");
    assert_eq!(steps(pieces(&answer, &[1_001, 3_000_000])), [text(&long), done(StopReason::Stop)]);
    let many = "{\"name\": \"list\"}".repeat(20_000);
    assert_eq!(steps([text(&many), done(StopReason::Stop)]).len(), 60_001);
}

#[tokio::test]
async fn cut_stream_keeps_what_was_shown() {
    let error = rheon_types::ProviderError::new(rheon_types::ProviderErrorKind::Network, "gone");
    for (answer, kept) in [
        ("{\"answer\": \"a b", vec![text("a b")]),
        ("{\"ans", vec![]),
        ("Well, <tool", vec![text("Well, <tool")]),
        ("<tool_call>{", vec![]),
    ] {
        let turn = Turn::say(answer).error(error.clone());
        let provider = PromptedTools::new(Arc::new(ScriptedProvider::new(Scenario::new().turn(turn))));
        let items: Vec<_> = provider.stream(request([user("go")]), CancellationToken::new()).collect().await;
        let (last, chunks) = items.split_last().unwrap();
        assert_eq!(*last, Err(error.clone()));
        let chunks = merged(chunks.iter().map(|item| item.clone().unwrap()).skip(1));
        assert_eq!(chunks, kept, "{answer}");
    }
}

#[tokio::test]
async fn request_without_tools_passes_unchanged() {
    let inner =
        Arc::new(ScriptedProvider::new(Scenario::new().turn("{\"answer\": 1}").turn("{\"answer\": 1}")));
    let bare = rheon_types::Request { tools: Arc::from([]), ..request([user("go")]) };
    for provider in [&PromptedTools::new(inner.clone()) as &dyn Provider, &LenientTools::new(inner.clone())] {
        assert_eq!(provider.id(), "scripted");
        let items: Vec<_> = provider.stream(bare.clone(), CancellationToken::new()).collect().await;
        let chunks = merged(items.into_iter().map(Result::unwrap).skip(1));
        assert_eq!(chunks, [text("{\"answer\": 1}"), done(StopReason::Stop)]);
    }
    let sent = inner.requests().pop().unwrap();
    assert!(sent.system.is_empty() && sent.output_schema.is_none());
    assert_eq!(sent.messages, bare.messages);
}

#[tokio::test]
async fn structured_answer_is_that_json() {
    let turn = Turn::say("{\"answer\": {\"n\": 1}}");
    let provider = PromptedTools::new(Arc::new(ScriptedProvider::new(Scenario::new().turn(turn))));
    let own = OutputSchema { name: "n".into(), schema: json!({ "type": "object" }) };
    let request = rheon_types::Request { output_schema: Some(Arc::new(own)), ..request([user("go")]) };
    let items: Vec<_> = provider.stream(request, CancellationToken::new()).collect().await;
    let chunks = merged(items.into_iter().map(Result::unwrap).skip(1));
    assert_eq!(chunks, [text("{\"n\": 1}"), done(StopReason::Stop)]);
}

#[tokio::test(start_paused = true)]
async fn agent_calls_tools_in_prompted_mode() {
    let scenario = Scenario::new()
        .turn(Turn::say(r#"{"name": "echo", "parameters": {"text": "hi"}}"#))
        .turn(Turn::say(r#"{"answer": "It said hi."}"#).when_last_text_contains("Result of echo:\nhi"));
    let inner = Arc::new(ScriptedProvider::new(scenario));
    let prompted: Arc<dyn Provider> = Arc::new(PromptedTools::new(inner.clone()));
    let ran = scripted(Scenario::new())
        .with(|builder| builder.provider(prompted))
        .tool(echo())
        .run("Say hi.")
        .await;
    let answer = ran.output().messages.last().map(|message| message.as_llm().map(rheon_types::Message::text));
    assert_eq!(answer, Some(Some("It said hi.".to_owned())));
    assert_eq!(
        rheon_testkit::request_text(&inner.requests()[1]),
        "user \"Say hi.\"\n\
         assistant \"{\\\"name\\\": \\\"echo\\\", \\\"parameters\\\": {\\\"text\\\":\\\"hi\\\"}}\"\n\
         user \"Result of echo:\\nhi\""
    );
}

proptest! {
    #[test]
    fn any_answer_round_trips_with_any_chunking(said in any::<String>(), cuts in prop::collection::vec(any::<usize>(), 0..5)) {
        let json = format!("{{\"answer\": {}}}", serde_json::to_string(&said).unwrap());
        let mut expected = if said.is_empty() { vec![] } else { vec![text(&said)] };
        expected.push(done(StopReason::Stop));
        prop_assert_eq!(steps(pieces(&json, &cuts)), expected);
    }

    #[test]
    fn any_call_round_trips_with_any_chunking(path in any::<String>(), cuts in prop::collection::vec(any::<usize>(), 0..5)) {
        let arguments = json!({ "path": path }).to_string();
        let json = format!("{{\"name\": \"read\", \"parameters\": {arguments}}}");
        prop_assert_eq!(steps(pieces(&json, &cuts)), with_end(&[call(0, "read", &arguments)]));
    }
}
