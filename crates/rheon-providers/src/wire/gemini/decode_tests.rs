//! Tests of responses: events in, chunks out, and back again as history.

use std::collections::VecDeque;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use rheon_types::{Chunk, Draft, ProviderError, ProviderErrorKind, StopReason, Usage};
use serde_json::{Value, json};

use super::encode_tests::{answer, body, request};
use crate::catalog::ThinkingStyle;
use crate::frame::Framing;
use crate::wire::{ResponseReader, WireKind};

type Outcome = (Vec<Chunk>, Result<(), ProviderError>);

fn read<'a>(framing: Framing, origin: &str, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut reader = ResponseReader::new(WireKind::Gemini, framing, origin);
    let mut chunks = VecDeque::new();
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| reader.feed(piece, &mut chunks));
    }
    result = result.and_then(|()| reader.finish(&mut chunks));
    (chunks.into(), result)
}

fn sse(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect()
}

fn read_events(events: &[Value]) -> Outcome {
    let body = sse(events);
    let whole = read(Framing::Sse, "google/gemini-3-pro", [body.as_bytes()]);
    assert_eq!(read(Framing::Sse, "google/gemini-3-pro", body.as_bytes().chunks(1)), whole);
    whole
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn stop(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason, "index": 0}]})
}

fn check(events: &[Value], expected: Expect) {
    let (chunks, result) = read_events(events);
    let mut lines: Vec<String> = chunks.iter().map(line).collect();
    lines.extend(result.err().map(|error| format!("{:?}: {error}", error.kind)));
    expected.assert_eq(&lines.join("\n"));
}

fn line(chunk: &Chunk) -> String {
    match chunk {
        Chunk::Model { model } => format!("model {model}"),
        Chunk::Provider { provider } => format!("provider {provider}"),
        Chunk::Text { delta } => format!("text {delta:?}"),
        Chunk::Thinking { delta } => format!("thinking {delta:?}"),
        Chunk::Signature { signature } => {
            format!("signature {:?} {:?} of {}", signature.kind, signature.data, signature.origin)
        }
        Chunk::ToolCallStart { index, id, name } => format!("call {index} {id} {name}"),
        Chunk::ToolCallDelta { index, delta } => format!("call {index} {delta}"),
        Chunk::ToolCallEnd { index } => format!("call {index} end"),
        Chunk::Block { block } => format!("{block:?}"),
        Chunk::Notice { message } => format!("notice {message}"),
        Chunk::Usage { usage } => format!("{usage:?}"),
        Chunk::Done { stop_reason } => format!("done {stop_reason:?}"),
    }
}

#[test]
fn thinking_text_and_usage_stream() {
    let counted = |event: Value, usage: Value| {
        let mut event = event;
        event["usageMetadata"] = usage;
        event["modelVersion"] = json!("gemini-3-pro-preview");
        event["responseId"] = json!("r1");
        event
    };
    check(
        &[
            counted(
                parts(json!([{"text": "Let me ", "thought": true}])),
                json!({"promptTokenCount": 100, "cachedContentTokenCount": 40, "totalTokenCount": 100}),
            ),
            counted(
                parts(
                    json!([{"text": "see.", "thought": true, "thoughtSignature": "cHJvb2Y="}, {"text": "H\u{e9}llo"}]),
                ),
                json!({"promptTokenCount": 100, "cachedContentTokenCount": 40, "totalTokenCount": 100}),
            ),
            parts(json!([{"text": " \u{1f980}\n\"you\""}])),
            counted(
                json!({"candidates": [{"content": {"parts": [{"text": "", "thoughtSignature": "ZW5k"}], "role": "model"},
                    "finishReason": "STOP"}]}),
                json!({"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 7,
                    "thoughtsTokenCount": 5, "totalTokenCount": 112}),
            ),
        ],
        expect![[r#"
            model gemini-3-pro-preview
            thinking "Let me "
            Usage { input: 60, output: 0, cache_read: 40, cache_write: 0, total_tokens: 100 }
            thinking "see."
            signature Proof "cHJvb2Y=" of google/gemini-3-pro
            text "Héllo"
            text " 🦀\n\"you\""
            signature Redacted "ZW5k" of google/gemini-3-pro
            Usage { input: 60, output: 12, cache_read: 40, cache_write: 0, total_tokens: 112 }
            done Stop"#]],
    );
}

#[test]
fn parallel_calls_are_complete_and_get_ids() {
    check(
        &[
            parts(json!([
                {"functionCall": {"id": "own", "name": "read", "args": {"path": "a \u{e9}", "n": [1, 2.5, null]}},
                    "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "read", "args": {"path": "b"}}},
            ])),
            parts(json!([{"functionCall": {"id": "", "name": "list"}}])),
            stop("STOP"),
        ],
        expect![[r#"
            signature Next "c2ln" of google/gemini-3-pro
            call 0 own read
            call 0 {"n":[1,2.5,null],"path":"a é"}
            call 0 end
            call 1 google-fc-1 read
            call 1 {"path":"b"}
            call 1 end
            call 2 google-fc-2 list
            call 2 end
            done ToolUse"#]],
    );
    let (chunks, _) = read(
        Framing::Sse,
        "vertex/gemini-3-pro",
        [sse(&[parts(json!([{"functionCall": {"name": "read", "args": {}}}]))]).as_bytes()],
    );
    assert_eq!(chunks.first().map(line).as_deref(), Some("call 0 vertex-fc-0 read"));
}

#[test]
fn every_finish_reason() {
    let ends = [
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "MISSING_THOUGHT_SIGNATURE",
        "LANGUAGE",
        "OTHER",
        "SOMETHING_NEW",
        "FINISH_REASON_UNSPECIFIED",
    ];
    let lines = ends.map(|reason| match read_events(&[stop(reason)]) {
        (chunks, Ok(())) => format!("{reason}: {}", chunks.iter().map(line).collect::<String>()),
        (chunks, Err(error)) => format!("{reason}: {} {:?} {error}", chunks.len(), error.kind),
    });
    expect![[r#"
        STOP: done Stop
        MAX_TOKENS: done Length
        SAFETY: 0 ContentFilter the service stopped the response because of its content (SAFETY)
        RECITATION: 0 ContentFilter the service stopped the response because of its content (RECITATION)
        BLOCKLIST: 0 ContentFilter the service stopped the response because of its content (BLOCKLIST)
        PROHIBITED_CONTENT: 0 ContentFilter the service stopped the response because of its content (PROHIBITED_CONTENT)
        SPII: 0 ContentFilter the service stopped the response because of its content (SPII)
        IMAGE_SAFETY: 0 ContentFilter the service stopped the response because of its content (IMAGE_SAFETY)
        MALFORMED_FUNCTION_CALL: 0 Malformed the model's tool call cannot be parsed (MALFORMED_FUNCTION_CALL)
        UNEXPECTED_TOOL_CALL: 0 Malformed the model's tool call cannot be parsed (UNEXPECTED_TOOL_CALL)
        MISSING_THOUGHT_SIGNATURE: 0 InvalidRequest the history lacks a signature that the service requires (MISSING_THOUGHT_SIGNATURE)
        LANGUAGE: done Stop
        OTHER: done Stop
        SOMETHING_NEW: done Stop
        FINISH_REASON_UNSPECIFIED: "#]].assert_eq(&lines.join("\n"));
}

#[test]
fn text_before_a_refusal_and_its_message_are_kept() {
    check(
        &[json!({
            "candidates": [{"content": {"parts": [{"text": "It is"}]}, "finishReason": "MALFORMED_FUNCTION_CALL",
                "finishMessage": "Malformed function call: print(x)"}],
            "usageMetadata": {"promptTokenCount": 3}
        })],
        expect![[r#"
            text "It is"
            Usage { input: 3, output: 0, cache_read: 0, cache_write: 0, total_tokens: 3 }
            Malformed: the model's tool call cannot be parsed (MALFORMED_FUNCTION_CALL): Malformed function call: print(x)"#]],
    );
}

#[test]
fn blocked_prompt_and_stream_error_are_errors() {
    check(
        &[
            json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}),
        ],
        expect![[r#"
            Usage { input: 9, output: 0, cache_read: 0, cache_write: 0, total_tokens: 9 }
            ContentFilter: the service blocked the prompt (PROHIBITED_CONTENT)"#]],
    );
    check(
        &[
            parts(json!([{"text": "a"}])),
            json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
        ],
        expect![[r#"
            text "a"
            Overloaded: UNAVAILABLE: The model is overloaded."#]],
    );
}

#[test]
fn calls_at_the_token_limit_end_with_length() {
    let call = parts(json!([{"functionCall": {"name": "read", "args": {}}}]));
    let (chunks, _) = read_events(&[call, stop("MAX_TOKENS")]);
    assert_eq!(chunks.last(), Some(&Chunk::Done { stop_reason: StopReason::Length }));
}

#[test]
fn usage_may_follow_the_end_and_implausible_usage_is_ignored() {
    let usage = |usage: Value| json!({"usageMetadata": usage});
    let (chunks, result) = read_events(&[
        stop("STOP"),
        usage(json!({"promptTokenCount": -5, "cachedContentTokenCount": 7, "candidatesTokenCount": u64::MAX,
            "thoughtsTokenCount": "9", "totalTokenCount": 1.5})),
        usage(json!({"promptTokenCount": 10, "candidatesTokenCount": 2, "toolUsePromptTokenCount": 3})),
        usage(json!({})),
    ]);
    let counts = |input, output, cache_read| Chunk::Usage {
        usage: Usage { input, output, cache_read, total_tokens: input + output + cache_read, cache_write: 0 },
    };
    let done = Chunk::Done { stop_reason: StopReason::Stop };
    assert_eq!((chunks, result), (vec![counts(0, 0, 7), counts(13, 2, 0), counts(0, 0, 0), done], Ok(())));
}

#[test]
fn response_without_content_is_complete_and_without_an_end_is_cut() {
    let done = Chunk::Done { stop_reason: StopReason::Stop };
    assert_eq!(read_events(&[stop("STOP")]), (vec![done], Ok(())));
    assert_eq!(read_events(&[]), (vec![], Ok(())));
    let events = [
        parts(json!([{"text": "th", "thought": true}])),
        parts(json!([{"text": "a"}])),
        parts(json!([{"functionCall": {"name": "read", "args": {}}}])),
        stop("STOP"),
    ];
    let whole = sse(&events);
    let end = whole.trim_end().len();
    for bytes in 0..end {
        let Some(cut) = whole.get(..bytes) else { continue };
        let (chunks, result) = read(Framing::Sse, "google/m", [cut.as_bytes()]);
        assert_eq!(result, Ok(()), "{bytes}");
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::Done { .. })), "{bytes}");
        let mut draft = Draft::new();
        chunks.iter().for_each(|chunk| draft.push(chunk).unwrap());
        assert_eq!(draft.finish(StopReason::Error).stop_reason, StopReason::Error);
    }
}

#[test]
fn broken_event_in_the_middle_is_malformed() {
    let kind = |body: &str| read(Framing::Sse, "google/m", [body.as_bytes()]).1.err().map(|error| error.kind);
    assert_eq!(kind("data: {}\n\ndata: {\"a\n\ndata: {}\n\n"), Some(ProviderErrorKind::Malformed));
    assert_eq!(kind("data: {}\n\ndata: nonsense\n\n"), Some(ProviderErrorKind::Malformed));
    assert_eq!(kind("data: {\"candidates\": 7}\n\n"), Some(ProviderErrorKind::Malformed));
    assert_eq!(
        kind("data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{}}]}}]}\n\n"),
        Some(ProviderErrorKind::Malformed)
    );
    assert_eq!(kind("data:\n\n: ping\n\ndata: {}\n\n"), None, "an empty event says nothing");
}

#[test]
fn json_array_or_single_object_body_is_accepted() {
    let events = [parts(json!([{"text": "a\nb"}])), parts(json!([{"text": "c"}])), stop("STOP")];
    let expected = read_events(&events);
    let array = format!("{:#}", json!(events));
    assert_eq!(read(Framing::Lines, "google/gemini-3-pro", [array.as_bytes()]), expected);
    assert_eq!(read(Framing::Lines, "google/gemini-3-pro", array.as_bytes().chunks(3)), expected);
    let compact = json!(events).to_string();
    assert_eq!(read(Framing::Lines, "google/gemini-3-pro", [compact.as_bytes()]), expected);
    let error =
        format!("{:#}", json!({"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}));
    let (chunks, result) = read(Framing::Lines, "google/m", [error.as_bytes()]);
    assert_eq!((chunks.len(), result.is_err()), (0, true));
    let cut = array.get(..array.len() / 2).unwrap();
    assert_eq!(read(Framing::Lines, "google/m", [cut.as_bytes()]), (vec![], Ok(())));
}

#[test]
fn endless_document_is_refused() {
    let line = format!("\"{}\",\n", "x".repeat(1024 * 1024));
    let lines = std::iter::once("[\n").chain(std::iter::repeat_n(line.as_str(), 40));
    let (chunks, result) = read(Framing::Lines, "google/m", lines.map(str::as_bytes));
    assert_eq!((chunks, result), (vec![], Err(crate::frame::too_large())));
}

/// The service's own content, sent back after it went through a draft and a history.
fn sent_back(events: &[Value], model: &str) -> Value {
    let origin = format!("google/{model}");
    let (chunks, result) = read(Framing::Sse, &origin, [sse(events).as_bytes()]);
    result.unwrap();
    let mut draft = Draft::new();
    chunks.iter().for_each(|chunk| draft.push(chunk).unwrap());
    let content = draft.finish(StopReason::Error).content;
    let request = request(model, vec![answer(content, "google")]);
    body(&request, "google", ThinkingStyle::None)["contents"][1]["parts"].take()
}

#[test]
fn signatures_are_sent_back_byte_for_byte_in_place() {
    let unusual = "CiQB+/=\u{e9} \\\"\u{1f980}";
    let said = json!([
        {"text": "A plan.", "thought": true, "thoughtSignature": unusual},
        {"text": "More.", "thought": true},
        {"text": "I read "},
        {"text": "two files.", "thoughtSignature": "dGV4dA=="},
        {"text": "", "thoughtSignature": "ZW1wdHk="},
        {"functionCall": {"id": "x1", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {"id": "x2", "name": "read", "args": {"path": "b"}}},
    ]);
    let one_event = [parts(said.clone()), stop("STOP")];
    assert_eq!(sent_back(&one_event, "gemini-3-pro"), said);
    let many_events: Vec<Value> =
        said.as_array().unwrap().iter().map(|part| parts(json!([part]))).chain([stop("STOP")]).collect();
    assert_eq!(sent_back(&many_events, "gemini-3-pro"), said);

    let only_thoughts = json!([{"text": "Hm.", "thought": true}, {"text": "", "thoughtSignature": "ZW5k"}]);
    assert_eq!(sent_back(&[parts(only_thoughts.clone()), stop("STOP")], "gemini-2.5-pro"), only_thoughts);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_events_are_harmless(lines in prop::collection::vec(r#"(data: )?[\{\}\[\]",:a-z0-9\\ ]{0,40}"#, 0..10)) {
        let body = lines.join("\n\n");
        let whole = read(Framing::Sse, "google/m", [body.as_bytes()]);
        prop_assert_eq!(read(Framing::Sse, "google/m", body.as_bytes().chunks(1)), whole);
        let whole = read(Framing::Lines, "google/m", [body.as_bytes()]);
        prop_assert_eq!(read(Framing::Lines, "google/m", body.as_bytes().chunks(1)), whole);
    }
}
