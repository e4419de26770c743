//! Responses: events in, chunks out.

use expect_test::expect;
use rheon_types::{Chunk, Message, StopReason};

use crate::frame::FRAME_BYTES_MAX;
use crate::wire::WireKind;
use crate::wire::claude_fixtures::{decode, decoded as decoded_on, drafted};

const WIRE: WireKind = WireKind::Bedrock;
const STOP: (&str, &str) = ("messageStop", r#"{"stopReason":"end_turn"}"#);

fn decoded(frames: &[(&str, &str)]) -> String {
    decoded_on(WIRE, frames)
}

#[test]
fn text_with_all_events() {
    expect![[r#"
        Text { delta: "Grüße, 🦀\n" }
        Text { delta: "more" }
        Usage { usage: Usage { input: 25, output: 12, cache_read: 100, cache_write: 7, total_tokens: 144 } }
        Done { stop_reason: Stop }
    "#]].assert_eq(&decoded(&[
        ("messageStart", r#"{"role":"assistant","p":"abcd"}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"Grüße, \ud83e\udd80\n"},"p":"abcdefgh"}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":""}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"citation":{"title":"t"}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"more"}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
        ("brandNewEvent", "not even JSON"),
        STOP,
        ("metadata", r#"{"usage":{"inputTokens":25,"outputTokens":12,"totalTokens":144,"cacheReadInputTokens":100,"cacheWriteInputTokens":7},"metrics":{"latencyMs":1}}"#),
        ("contentBlockDelta", "late and unreadable"),
        ("throttlingException", r#"{"message":"late"}"#),
    ]));
}

#[test]
fn reasoning_with_signature_in_pieces_and_redacted_reasoning() {
    expect![[r#"
        Thinking { delta: "Hm." }
        Signature { signature: Signature { data: "EqQB/+==", kind: Proof, id: None, origin: "vendor/claude-test" } }
        Signature { signature: Signature { data: "QQ==", kind: Redacted, id: None, origin: "vendor/claude-test" } }
        Signature { signature: Signature { data: "QUJD", kind: Redacted, id: None, origin: "vendor/claude-test" } }
        Done { stop_reason: Stop }
    "#]].assert_eq(&decoded(&[
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm."}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"EqQB\/"}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"+=="}}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"QQ=="}}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"reasoningContent":{"redactedContent":"QQ=="}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"reasoningContent":{"redactedContent":"QkM="}}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":2}"#),
        STOP,
    ]));
}

#[test]
fn parallel_calls_and_server_side_calls() {
    expect![[r#"
        ToolCallStart { index: 1, id: "tooluse_1", name: "read" }
        ToolCallDelta { index: 1, delta: "{\"path\":\"ä\"}" }
        ToolCallEnd { index: 1 }
        ToolCallStart { index: 2, id: "tooluse_2", name: "now" }
        ToolCallEnd { index: 2 }
        Done { stop_reason: ToolUse }
    "#]].assert_eq(&decoded(&[
        ("contentBlockStart", r#"{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"tooluse_0","name":"web","type":"server_tool_use"}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
        ("contentBlockStart", r#"{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"read"}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":""}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"path\":\"ä\"}"}}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
        ("contentBlockStart", r#"{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"tooluse_2","name":"now"}}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":2}"#),
        ("messageStop", r#"{"stopReason":"tool_use"}"#),
        ("metadata", "{}"),
    ]));
}

#[test]
fn call_cut_before_its_arguments_is_not_complete() {
    let message = drafted(
        WIRE,
        &[
            (
                "contentBlockStart",
                r#"{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t","name":"remove"}}}"#,
            ),
            ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
            ("messageStop", r#"{"stopReason":"max_tokens"}"#),
        ],
    );
    let Message::Assistant(answer) = message else { panic!("an answer") };
    let malformed: Vec<_> = answer.tool_calls().map(|call| call.malformed.clone()).collect();
    assert_eq!(malformed, [Some("the answer ended before the call was complete: ".to_owned())]);
}

#[test]
fn json_lines_are_read() {
    expect![[r#"
        Text { delta: "Hi" }
        Usage { usage: Usage { input: 1, output: 2, cache_read: 0, cache_write: 0, total_tokens: 3 } }
        Done { stop_reason: Stop }
    "#]]
    .assert_eq(&decoded(&[
        ("", r#"{"messageStart":{"role":"assistant"}}"#),
        ("", r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"Hi"}}}"#),
        ("", ""),
        ("", r#"{"somethingNew":[1]}"#),
        ("", r#"{"messageStop":{"stopReason":"end_turn"}}"#),
        ("", r#"{"metadata":{"usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}}"#),
    ]));
    expect![[r#"
        RateLimited: throttlingException: Too many
    "#]]
    .assert_eq(&decoded(&[("", r#"{"throttlingException":{"message":"Too many"}}"#)]));
}

#[test]
fn every_stop_reason() {
    let reasons = [
        "end_turn",
        "stop_sequence",
        "tool_use",
        "max_tokens",
        "model_context_window_exceeded",
        "guardrail_intervened",
        "content_filtered",
        "malformed_tool_use",
        "something_new",
    ];
    let mut text = String::new();
    for reason in reasons {
        let frame = format!(r#"{{"stopReason":"{reason}"}}"#);
        text.push_str(&format!("{reason}: {}", decoded(&[("messageStop", &frame)])));
    }
    expect![[r#"
        end_turn: Done { stop_reason: Stop }
        stop_sequence: Done { stop_reason: Stop }
        tool_use: Done { stop_reason: ToolUse }
        max_tokens: Done { stop_reason: Length }
        model_context_window_exceeded: Done { stop_reason: Length }
        guardrail_intervened: ContentFilter: the service refused the content (guardrail_intervened); change the request or use another model
        content_filtered: ContentFilter: the service refused the content (content_filtered); change the request or use another model
        malformed_tool_use: Malformed: cannot read the service's response: the model's output is malformed (malformed_tool_use)
        something_new: Done { stop_reason: Stop }
    "#]].assert_eq(&text);
}

#[test]
fn exceptions_end_the_response() {
    let mut text = String::new();
    for (name, data) in [
        ("throttlingException", r#"{"message":"Too many tokens"}"#),
        ("validationException", r#"{"Message":"The model returned the following errors"}"#),
        ("modelStreamErrorException", r#"{"originalMessage":"broke","originalStatusCode":500}"#),
        ("internalServerException", "no JSON"),
        ("serviceUnavailableException", "{}"),
        ("brandNewException", r#"{"message":null}"#),
    ] {
        text.push_str(&decoded(&[(name, data), STOP]));
    }
    expect![[r#"
        RateLimited: throttlingException: Too many tokens
        InvalidRequest: validationException: The model returned the following errors
        Overloaded: modelStreamErrorException: broke
        Overloaded: internalServerException: the service gave no reason
        Overloaded: serviceUnavailableException: the service gave no reason
        Api: brandNewException: the service gave no reason
    "#]]
    .assert_eq(&text);
}

#[test]
fn response_without_usage_ends_and_usage_may_come_first() {
    let text = ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"Hi"}}"#);
    let metadata = ("metadata", r#"{"usage":{"inputTokens":1}}"#);
    let (chunks, _) = decode(WIRE, &[text, STOP]);
    assert_eq!(chunks.last(), Some(&Chunk::Done { stop_reason: StopReason::Stop }));
    expect![[r#"
        Text { delta: "Hi" }
        Usage { usage: Usage { input: 1, output: 0, cache_read: 0, cache_write: 0, total_tokens: 0 } }
        Done { stop_reason: Stop }
    "#]]
    .assert_eq(&decoded(&[text, metadata, STOP]));
}

#[test]
fn cut_response_has_no_done() {
    let frames = [
        ("messageStart", r#"{"role":"assistant"}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"half"}}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
        ("contentBlockStart", r#"{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"n"}}}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"a"}}}"#),
    ];
    for end in 0..=frames.len() {
        let (chunks, failure) = decode(WIRE, &frames[..end]);
        assert_eq!(failure, None);
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::Done { .. } | Chunk::ToolCallEnd { .. })));
    }
    assert_eq!(decoded(&frames[..2]), "");
}

#[test]
fn implausible_counts_are_ignored() {
    expect![[r#"
        Usage { usage: Usage { input: 0, output: 0, cache_read: 0, cache_write: 0, total_tokens: 0 } }
        Done { stop_reason: Stop }
    "#]].assert_eq(&decoded(&[
        STOP,
        ("metadata", r#"{"usage":{"inputTokens":-1,"outputTokens":18446744073709551615,"totalTokens":"x","cacheReadInputTokens":null}}"#),
    ]));
}

#[test]
fn unreadable_event_is_named() {
    let mut text = String::new();
    for (name, data) in [
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"cut of"#),
        ("contentBlockStart", "7"),
        ("contentBlockStop", r#"{"contentBlockIndex":-1}"#),
        ("messageStop", r#"{"stopReason":5}"#),
        ("metadata", ""),
        ("", r#"{"contentBlockDelta":"#),
    ] {
        text.push_str(&decoded(&[(name, data)]));
    }
    expect![[r#"
        Malformed: cannot read the service's response: event contentBlockDelta: EOF while parsing a string at line 1 column 46
        Malformed: cannot read the service's response: event contentBlockStart: invalid type: integer `7`, expected struct BlockStart at line 1 column 1
        Malformed: cannot read the service's response: event contentBlockStop: invalid value: integer `-1`, expected u32 at line 1 column 23
        Done { stop_reason: Stop }
        Malformed: cannot read the service's response: event metadata: EOF while parsing a value at line 1 column 0
        Malformed: cannot read the service's response: event (unnamed): EOF while parsing a value at line 1 column 21
    "#]].assert_eq(&text);
}

#[test]
fn signatures_and_redacted_reasoning_have_a_size_limit() {
    let piece = |field: &str, bytes: usize| {
        let text = "x".repeat(bytes);
        format!(r#"{{"contentBlockIndex":0,"delta":{{"reasoningContent":{{"{field}":"{text}"}}}}}}"#)
    };
    let most = piece("signature", FRAME_BYTES_MAX);
    let (chunks, failure) = decode(WIRE, &[("contentBlockDelta", &most), STOP]);
    assert_eq!((chunks.len(), failure), (2, None));
    for field in ["signature", "redactedContent"] {
        let (half, rest) = (piece(field, FRAME_BYTES_MAX / 2), piece(field, FRAME_BYTES_MAX / 2 + 1));
        let text = decoded(&[("contentBlockDelta", &half), ("contentBlockDelta", &rest), STOP]);
        assert_eq!(text, "Api: a signature in the response is larger than 8388608 bytes\n");
    }
}
