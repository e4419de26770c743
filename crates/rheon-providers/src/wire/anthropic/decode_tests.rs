//! Responses: events in, chunks out.

use expect_test::expect;
use rheon_types::{Chunk, Content, Message, StopReason};
use serde_json::json;

use crate::frame::FRAME_BYTES_MAX;
use crate::wire::WireKind;
use crate::wire::claude_fixtures::{decode, decoded as decoded_on, drafted};

const WIRE: WireKind = WireKind::Anthropic;

const START: (&str, &str) = (
    "message_start",
    r#"{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"claude-test-1","content":[],"usage":{"input_tokens":25,"cache_read_input_tokens":100,"cache_creation_input_tokens":7,"output_tokens":1}}}"#,
);
const STOP: (&str, &str) = ("message_stop", r#"{"type":"message_stop"}"#);

fn decoded(frames: &[(&str, &str)]) -> String {
    decoded_on(WIRE, frames)
}

fn ended(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":12}}}}"#
    )
}

#[test]
fn text_with_all_events() {
    expect![[r#"
        Model { model: "claude-test-1" }
        Usage { usage: Usage { input: 25, output: 1, cache_read: 100, cache_write: 7, total_tokens: 0 } }
        Text { delta: "Grüße, 🦀\n" }
        Text { delta: "a piece that is longer than twenty-four bytes" }
        Usage { usage: Usage { input: 25, output: 12, cache_read: 100, cache_write: 7, total_tokens: 0 } }
        Done { stop_reason: Stop }
    "#]].assert_eq(&decoded(&[
        START,
        ("ping", r#"{"type":"ping"}"#),
        ("content_block_start", r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#),
        ("content_block_delta", r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße, \ud83e\udd80\n"}}"#),
        ("content_block_delta", r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#),
        ("content_block_delta", r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","text":{}}}}"#),
        ("content_block_delta", r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a piece that is longer than twenty-four bytes"}}"#),
        ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#),
        ("brand_new_event", "not even JSON"),
        ("message_delta", &ended("end_turn")),
        STOP,
        ("content_block_delta", "late and unreadable"),
        ("error", r#"{"type":"error","error":{"type":"overloaded_error","message":"late"}}"#),
    ]));
}

#[test]
fn thinking_with_signature_in_pieces_and_redacted_thinking() {
    expect![[r#"
        Thinking { delta: "Hm." }
        Signature { signature: Signature { data: "EqQB/\0+==", kind: Proof, id: None, origin: "vendor/claude-test" } }
        Signature { signature: Signature { data: "Emw=", kind: Redacted, id: None, origin: "vendor/claude-test" } }
        Thinking { delta: "Whole." }
        Signature { signature: Signature { data: "at once", kind: Proof, id: None, origin: "vendor/claude-test" } }
        Text { delta: "also at once" }
        Usage { usage: Usage { input: 0, output: 12, cache_read: 0, cache_write: 0, total_tokens: 0 } }
        Done { stop_reason: Stop }
    "#]].assert_eq(&decoded(&[
        ("content_block_start", r#"{"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#),
        ("content_block_delta", r#"{"index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#),
        ("content_block_delta", r#"{"index":0,"delta":{"type":"signature_delta","signature":"EqQB\/"}}"#),
        ("content_block_delta", r#"{"index":0,"delta":{"type":"signature_delta","signature":"\u0000+=="}}"#),
        ("content_block_stop", r#"{"index":0}"#),
        ("content_block_start", r#"{"index":1,"content_block":{"type":"redacted_thinking","data":"Emw="}}"#),
        ("content_block_stop", r#"{"index":1}"#),
        ("content_block_start", r#"{"index":2,"content_block":{"type":"thinking","thinking":"Whole.","signature":"at once"}}"#),
        ("content_block_start", r#"{"index":3,"content_block":{"type":"text","text":"also at once"}}"#),
        ("message_delta", &ended("end_turn")),
        STOP,
    ]));
}

#[test]
fn thinking_only_response_without_text() {
    let frames = [
        ("content_block_start", r#"{"index":0,"content_block":{"type":"thinking","thinking":""}}"#),
        ("content_block_delta", r#"{"index":0,"delta":{"type":"signature_delta","signature":"Eq"}}"#),
        ("content_block_stop", r#"{"index":0}"#),
        ("message_delta", &ended("end_turn")),
        STOP,
    ];
    expect![[r#"[Thinking { thinking: "", signature: Some(Signature { data: "Eq", kind: Proof, id: None, origin: "vendor/claude-test" }) }]"#]].assert_eq(&format!("{:?}", drafted(WIRE, &frames).content()));
}

#[test]
fn parallel_calls_with_interleaved_blocks_or_whole_arguments() {
    let frames = [
        (
            "content_block_start",
            r#"{"index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}"#,
        ),
        ("content_block_delta", r#"{"index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#),
        (
            "content_block_delta",
            r#"{"index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}"#,
        ),
        (
            "content_block_start",
            r#"{"index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"list","input":{"path": "b"}}}"#,
        ),
        ("content_block_delta", r#"{"index":1,"delta":{"type":"input_json_delta","partial_json":"\"ä\"}"}}"#),
        ("content_block_stop", r#"{"index":2}"#),
        ("content_block_stop", r#"{"index":1}"#),
        (
            "content_block_start",
            r#"{"index":3,"content_block":{"type":"tool_use","id":"toolu_3","name":"now","input":{ }}}"#,
        ),
        ("content_block_stop", r#"{"index":3}"#),
        (
            "content_block_start",
            r#"{"index":4,"content_block":{"type":"tool_use","id":"toolu_4","name":"open"}}"#,
        ),
        ("content_block_delta", r#"{"index":4,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#),
        ("message_delta", &ended("tool_use")),
        STOP,
    ];
    expect![[r#"
        ToolCallStart { index: 1, id: "toolu_1", name: "read" }
        ToolCallDelta { index: 1, delta: "{\"path\":" }
        ToolCallStart { index: 2, id: "toolu_2", name: "list" }
        ToolCallDelta { index: 1, delta: "\"ä\"}" }
        ToolCallDelta { index: 2, delta: "{\"path\": \"b\"}" }
        ToolCallEnd { index: 2 }
        ToolCallEnd { index: 1 }
        ToolCallStart { index: 3, id: "toolu_3", name: "now" }
        ToolCallEnd { index: 3 }
        ToolCallStart { index: 4, id: "toolu_4", name: "open" }
        ToolCallDelta { index: 4, delta: "{}" }
        Usage { usage: Usage { input: 0, output: 12, cache_read: 0, cache_write: 0, total_tokens: 0 } }
        ToolCallEnd { index: 4 }
        Done { stop_reason: ToolUse }
    "#]]
    .assert_eq(&decoded(&frames));
    let arguments: Vec<_> = drafted(WIRE, &frames)
        .content()
        .iter()
        .filter_map(|block| match block {
            Content::ToolCall(call) => Some((*call.arguments).clone()),
            Content::Text { .. } | Content::Image { .. } | Content::Thinking { .. } => None,
        })
        .collect();
    assert_eq!(arguments, [json!({"path": "ä"}), json!({"path": "b"}), json!({}), json!({})]);
}

#[test]
fn call_cut_before_its_arguments_is_not_complete() {
    let message = drafted(
        WIRE,
        &[
            (
                "content_block_start",
                r#"{"index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"remove","input":{}}}"#,
            ),
            ("content_block_stop", r#"{"index":0}"#),
            ("message_delta", &ended("max_tokens")),
            STOP,
        ],
    );
    let Message::Assistant(answer) = message else { panic!("an answer") };
    let malformed: Vec<_> = answer.tool_calls().map(|call| call.malformed.clone()).collect();
    assert_eq!(malformed, [Some("the answer ended before the call was complete: ".to_owned())]);
}

#[test]
fn server_tools_and_unknown_blocks_are_ignored() {
    expect![[r#"
        Text { delta: "without a start" }
        Usage { usage: Usage { input: 0, output: 12, cache_read: 0, cache_write: 0, total_tokens: 0 } }
        Done { stop_reason: Stop }
    "#]].assert_eq(&decoded(&[
        ("content_block_start", r#"{"index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}"#),
        ("content_block_delta", r#"{"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":1}"}}"#),
        ("content_block_stop", r#"{"index":0}"#),
        ("content_block_start", r#"{"index":1,"content_block":{"type":"web_search_tool_result","content":[{"text":5}]}}"#),
        ("content_block_stop", r#"{"index":1}"#),
        ("content_block_start", r#"{"index":2,"content_block":{"type":"poem","text":{"verse":1}}}"#),
        ("content_block_delta", r#"{"index":2,"delta":{"type":"text_delta","text":"la la"}}"#),
        ("content_block_delta", r#"{"index":2,"delta":{"type":"verse_delta","verse":[]}}"#),
        ("content_block_stop", r#"{"index":2}"#),
        ("content_block_delta", r#"{"index":3,"delta":{"type":"text_delta","text":"without a start"}}"#),
        ("message_delta", &ended("pause_turn")),
        STOP,
    ]));
}

#[test]
fn what_comes_for_a_block_after_its_end_is_dropped() {
    let text = |index: usize, text: &str| {
        format!(r#"{{"index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}}"#)
    };
    let (one, late, two, later) = (text(0, "one"), text(0, " late"), text(1, " two"), text(0, " later"));
    let start = r#"{"index":0,"content_block":{"type":"text","text":""}}"#;
    let next = r#"{"index":1,"content_block":{"type":"text","text":""}}"#;
    let frames = [
        ("content_block_start", start),
        ("content_block_delta", one.as_str()),
        ("content_block_stop", r#"{"index":0}"#),
        ("content_block_delta", &late),
        ("content_block_start", next),
        ("content_block_delta", &two),
        ("content_block_delta", &later),
        ("message_stop", "{}"),
    ];
    let found = decoded(&frames);
    assert!(found.contains("one") && found.contains("two") && !found.contains("late"), "{found}");
}

#[test]
fn every_stop_reason() {
    let reasons = [
        "end_turn",
        "stop_sequence",
        "max_tokens",
        "model_context_window_exceeded",
        "tool_use",
        "pause_turn",
        "refusal",
        "something_new",
    ];
    let mut text = String::new();
    for reason in reasons {
        let (chunks, failure) = decode(WIRE, &[("message_delta", &ended(reason)), STOP]);
        let failure = failure.map(|error| format!("{:?}: {error}", error.kind));
        text.push_str(&format!("{reason}: {:?} {failure:?}\n", chunks.last()));
    }
    expect![[r#"
        end_turn: Some(Done { stop_reason: Stop }) None
        stop_sequence: Some(Done { stop_reason: Stop }) None
        max_tokens: Some(Done { stop_reason: Length }) None
        model_context_window_exceeded: Some(Done { stop_reason: Length }) None
        tool_use: Some(Done { stop_reason: ToolUse }) None
        pause_turn: Some(Done { stop_reason: Stop }) None
        refusal: Some(Usage { usage: Usage { input: 0, output: 12, cache_read: 0, cache_write: 0, total_tokens: 0 } }) Some("ContentFilter: the model refused to answer; change the request or use another model (reason: none)")
        something_new: Some(Done { stop_reason: Stop }) None
    "#]].assert_eq(&text);
}

#[test]
fn refusal_has_the_services_reason() {
    let frame = r#"{"delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"No \"exploits\"."}}}"#;
    expect![[r#"
        ContentFilter: the model refused to answer; change the request or use another model (reason: No "exploits".)
    "#]].assert_eq(&decoded(&[("message_delta", frame), STOP]));
}

#[test]
fn type_is_used_without_event_names() {
    let unnamed = [
        ("", START.1),
        ("message", r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#),
        ("", "[DONE]"),
        ("", ""),
        ("", r#"{"no":"type"}"#),
        ("", r#"{"type":"message_stop"}"#),
    ];
    expect![[r#"
        Model { model: "claude-test-1" }
        Usage { usage: Usage { input: 25, output: 1, cache_read: 100, cache_write: 7, total_tokens: 0 } }
        Text { delta: "Hi" }
        Done { stop_reason: Stop }
    "#]]
    .assert_eq(&decoded(&unnamed));
}

#[test]
fn counts_are_cumulative_and_missing_ones_are_kept() {
    expect![[r#"
        Model { model: "claude-test-1" }
        Usage { usage: Usage { input: 25, output: 1, cache_read: 100, cache_write: 7, total_tokens: 0 } }
        Usage { usage: Usage { input: 25, output: 5, cache_read: 100, cache_write: 7, total_tokens: 0 } }
        Usage { usage: Usage { input: 25, output: 9, cache_read: 120, cache_write: 7, total_tokens: 0 } }
        Done { stop_reason: Stop }
    "#]].assert_eq(&decoded(&[
        START,
        ("message_delta", r#"{"delta":{},"usage":{"output_tokens":5}}"#),
        ("message_delta", r#"{"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"cache_read_input_tokens":120,"cache_creation_input_tokens":0,"output_tokens":9}}"#),
        ("message_delta", r#"{"usage":null}"#),
        STOP,
    ]));
}

#[test]
fn implausible_counts_are_ignored() {
    expect![[r#"
        Usage { usage: Usage { input: 0, output: 0, cache_read: 0, cache_write: 0, total_tokens: 0 } }
        Done { stop_reason: Stop }
    "#]].assert_eq(&decoded(&[
        ("message_start", r#"{"message":{"usage":{"input_tokens":-4,"output_tokens":18446744073709551615,"cache_read_input_tokens":"many","cache_creation_input_tokens":1.5}}}"#),
        ("message_start", r#"{"message":{"model":"","usage":null}}"#),
        STOP,
    ]));
}

#[test]
fn stream_error_ends_the_response() {
    expect![[r#"
        Text { delta: "half" }
        Overloaded: overloaded_error: Overloaded
    "#]].assert_eq(&decoded(&[
        ("content_block_delta", r#"{"index":0,"delta":{"type":"text_delta","text":"half"}}"#),
        ("error", r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#),
        STOP,
    ]));
}

#[test]
fn unreadable_event_is_named() {
    let mut text = String::new();
    for (name, data) in [
        ("content_block_delta", r#"{"index":0,"delta":{"type":"text_delta","text":"cut of"#),
        ("content_block_delta", r#"{"index":-1,"delta":{"type":"text_delta"}}"#),
        ("content_block_start", r#"{"index":0}"#),
        ("content_block_start", r#"{"index":0,"content_block":{"type":"redacted_thinking"}}"#),
        ("content_block_stop", "7"),
        ("message_start", "null"),
        ("message_delta", ""),
        ("error", "{}"),
        ("", r#"{"type":"#),
    ] {
        text.push_str(&decoded(&[(name, data)]));
    }
    expect![[r#"
        Malformed: cannot read the service's response: event content_block_delta: EOF while parsing a string at line 1 column 54
        Malformed: cannot read the service's response: event content_block_delta: invalid value: integer `-1`, expected u32 at line 1 column 11
        Malformed: cannot read the service's response: event content_block_start: missing field `content_block` at line 1 column 11
        Malformed: cannot read the service's response: event content_block_start: missing field `data` at line 1 column 28
        Malformed: cannot read the service's response: event content_block_stop: invalid type: integer `7`, expected struct BlockStop at line 1 column 1
        Malformed: cannot read the service's response: event message_start: invalid type: null, expected struct MessageStart at line 1 column 4
        Malformed: cannot read the service's response: event message_delta: EOF while parsing a value at line 1 column 0
        Malformed: cannot read the service's response: event error: missing field `error` at line 1 column 2
        Malformed: cannot read the service's response: event (unnamed): EOF while parsing a value at line 1 column 8
    "#]].assert_eq(&text);
    let long = format!(r#"{{"index":"{}","delta":{{}}}}"#, "x".repeat(100_000));
    assert!(decoded(&[("content_block_delta", &long)]).len() < 400);
}

#[test]
fn response_cut_anywhere_has_no_done() {
    let frames = [
        START,
        ("content_block_start", r#"{"index":0,"content_block":{"type":"thinking","thinking":""}}"#),
        ("content_block_delta", r#"{"index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#),
        ("content_block_delta", r#"{"index":0,"delta":{"type":"signature_delta","signature":"half a sig"}}"#),
        ("content_block_stop", r#"{"index":0}"#),
        (
            "content_block_start",
            r#"{"index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}"#,
        ),
        (
            "content_block_delta",
            r#"{"index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a"}}"#,
        ),
        ("message_delta", &ended("tool_use")),
        STOP,
    ];
    let (whole, _) = decode(WIRE, &frames);
    assert_eq!(whole.last(), Some(&Chunk::Done { stop_reason: StopReason::ToolUse }));
    for end in 0..frames.len() {
        let (chunks, failure) = decode(WIRE, &frames[..end]);
        assert_eq!(failure, None, "{end}");
        assert!(whole.starts_with(&chunks), "{end}");
        assert!(
            !chunks.iter().any(|chunk| matches!(chunk, Chunk::Done { .. } | Chunk::ToolCallEnd { .. })),
            "{end}"
        );
    }
    let (before_stop, _) = decode(WIRE, &frames[..4]);
    assert!(!before_stop.iter().any(|chunk| matches!(chunk, Chunk::Signature { .. })));
}

#[test]
fn empty_response_is_done() {
    assert_eq!(decoded(&[("message_delta", r#"{"delta":{}}"#), STOP]), "Done { stop_reason: Stop }\n");
    assert_eq!(decoded(&[]), "");
}

#[test]
fn restarted_call_is_ended_first_and_stray_pieces_are_ignored() {
    let start = r#"{"index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}"#;
    let piece = r#"{"index":9,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#;
    expect![[r#"
        ToolCallStart { index: 0, id: "t", name: "n" }
        ToolCallEnd { index: 0 }
        ToolCallStart { index: 0, id: "t", name: "n" }
        ToolCallEnd { index: 0 }
        Done { stop_reason: Stop }
    "#]]
    .assert_eq(&decoded(&[
        ("content_block_start", start),
        ("content_block_start", start),
        ("content_block_delta", piece),
        ("content_block_stop", r#"{"index":9}"#),
        STOP,
    ]));
}

#[test]
fn signature_size_has_a_limit() {
    let half = format!(
        r#"{{"index":0,"delta":{{"type":"signature_delta","signature":"{}"}}}}"#,
        "x".repeat(FRAME_BYTES_MAX / 2)
    );
    let piece = ("content_block_delta", half.as_str());
    let (chunks, failure) = decode(WIRE, &[piece, piece, STOP]);
    assert_eq!((chunks.len(), failure), (2, None));
    let more = ("content_block_delta", r#"{"index":0,"delta":{"type":"signature_delta","signature":"y"}}"#);
    expect![[r#"
        Api: a signature in the response is larger than 8388608 bytes
    "#]]
    .assert_eq(&decoded(&[piece, piece, more, STOP]));
}
