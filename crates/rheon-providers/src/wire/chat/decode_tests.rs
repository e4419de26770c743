//! Chat responses: every field and event, cuts, counts and errors.

use expect_test::{Expect, expect};
use rheon_types::{Content, Request, StopReason};

use crate::catalog::ThinkingStyle;
use crate::compat::{Compat, ThinkingReplay};
use crate::wire::WireKind::Chat;
use crate::wire::openai_fixtures::*;

fn decoded(frames: &[&str]) -> Decoded {
    decode(Chat, frames.iter().map(|data| ("", *data)))
}

#[track_caller]
fn check(frames: &[&str], expected: Expect) {
    let decoded = decoded(frames);
    expected.assert_eq(&decoded.trace());
    // The agent loop accepts whatever the service sends.
    decoded.finished();
}

#[test]
fn text_with_usage_in_the_last_chunk() {
    check(
        &[
            r#"{"id":"c","object":"chat.completion.chunk","model":"m-1-2026","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
            r#"{"model":"m-1-2026","choices":[{"index":0,"delta":{"content":"Grüße "},"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"\ud83e\udd80 \"x\"\n"},"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":5}}}"#,
            "[DONE]",
            r#"{"choices":[{"delta":{"content":"too late"}}]}"#,
        ],
        expect![[r#"
            model m-1-2026
            text "Grüße "
            text "🦀 \"x\"\n"
            usage 36 in, 20 out, 64 read, 0 written, 120 in all
            done Stop
        "#]],
    );
}

#[test]
fn parallel_tool_calls_interleave_and_end_with_the_reason() {
    check(
        &[
            r#"{"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"list","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}},{"index":1,"function":{"arguments":"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"ü\"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        ],
        expect![[r#"
            call 0 call_a read
            call 1 call_b list
            call 1 + {
            call 0 + {"path":
            call 1 + }
            call 0 + "ü"}
            call 0 end
            call 1 end
            done ToolUse
        "#]],
    );
}

#[test]
fn reasoning_under_any_name_is_read_once() {
    check(
        &[
            r#"{"choices":[{"delta":{"reasoning_content":"a","reasoning":"a"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0}]}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_text":"c","reasoning_content":null}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"d","index":0}]}}]}"#,
            r#"{"choices":[{"delta":{"content":"said"},"finish_reason":"stop"}]}"#,
        ],
        expect![[r#"
            thinking "a"
            thinking "b"
            thinking "c"
            thinking "d"
            text "said"
            done Stop
        "#]],
    );
}

#[test]
fn text_and_thinking_parts() {
    check(
        &[
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":"so"},{"type":"reference","reference_ids":[1]},{"type":"text","text":"yes"}]}}]}"#,
            r#"{"choices":[{"delta":{"content":" no"},"finish_reason":"stop"}]}"#,
        ],
        expect![[r#"
            thinking "hm"
            thinking "so"
            text "yes"
            text " no"
            done Stop
        "#]],
    );
}

#[test]
fn details_round_trip_byte_for_byte() {
    let encrypted = r#"{"type":"reasoning.encrypted","data":"gAAA\u002b/é==","id":"rs_1","format":"openai-responses-v1","index":1}"#;
    let frames = [
        r#"{"choices":[{"delta":{"reasoning":"Let ","reasoning_details":[{"type":"reasoning.text","text":"Let ","index":0,"format":"anthropic-claude-v1"}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"me.","reasoning_details":[{"type":"reasoning.text","text":"me.","index":0}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"EqoB\/x==","index":0,"text":null}]}}]}"#,
        r#"{"choices":[{"delta":{"content":"Hello"}}]}"#,
        &format!(
            r#"{{"choices":[{{"delta":{{"reasoning_details":[{encrypted}],"tool_calls":[{{"index":0,"id":"a","function":{{"name":"read","arguments":"{{}}"}}}}]}}}}]}}"#
        ),
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
    ];
    let finished = decoded(&frames).finished();
    assert_eq!(finished.stop_reason, StopReason::ToolUse);
    assert_eq!(finished.content.len(), 4);
    let Some(Content::Thinking { thinking, signature: Some(signature) }) = finished.content.first() else {
        panic!("{:?}", finished.content);
    };
    assert_eq!(thinking, "Let me.");
    let details: serde_json::Value = serde_json::from_str(&signature.data).unwrap();
    assert_eq!(
        details,
        serde_json::json!([{
            "type": "reasoning.text", "text": "Let me.", "index": 0,
            "format": "anthropic-claude-v1", "signature": "EqoB/x==",
        }])
    );

    let stored = serde_json::to_string(&answer(finished.content.clone())).unwrap();
    let request = Request {
        messages: history([user("x"), serde_json::from_str(&stored).unwrap()]),
        ..Request::new("m-1")
    };
    let compat = Compat { thinking_replay: ThinkingReplay::ReasoningDetails, ..Compat::default() };
    let body = encoded(Chat, &request, &model(ThinkingStyle::None), &compat);
    let list = signature.data.strip_suffix(']').unwrap();
    assert!(body.contains(&format!(r#""reasoning_details":{list},{encrypted}]"#)), "{body}");
}

#[test]
fn legacy_function_calls_and_refusals() {
    check(
        &[
            r#"{"choices":[{"delta":{"function_call":{"name":"read","arguments":""}}}]}"#,
            r#"{"choices":[{"delta":{"function_call":{"arguments":"{\"a\""}}}]}"#,
            r#"{"choices":[{"delta":{"function_call":{"arguments":":1}"}},"finish_reason":"function_call"}]}"#,
        ],
        expect![[r#"
            call 0  read
            call 0 + {"a"
            call 0 + :1}
            call 0 end
            done ToolUse
        "#]],
    );
    check(
        &[
            r#"{"choices":[{"delta":{"refusal":"I cannot."}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        ],
        expect![[r#"
            text "I cannot."
            done Stop
        "#]],
    );
}

#[test]
fn every_stop_reason() {
    let stop = |reason: &str| {
        let frame = format!(r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":{reason}}}]}}"#);
        decoded(&[&frame]).trace().lines().skip(1).collect::<Vec<_>>().join(" ")
    };
    let reasons = [
        "null",
        "\"\"",
        "\"stop\"",
        "\"length\"",
        "\"model_length\"",
        "\"tool_calls\"",
        "\"function_call\"",
        "\"eos\"",
        "7",
        "\"content_filter\"",
        "\"sensitive\"",
        "\"error\"",
        "\"network_error\"",
        "\"insufficient_system_resource\"",
    ];
    let all: Vec<String> = reasons.iter().map(|reason| format!("{reason}: {}", stop(reason))).collect();
    expect![[r#"
        null: 
        "": 
        "stop": done Stop
        "length": done Length
        "model_length": done Length
        "tool_calls": done ToolUse
        "function_call": done ToolUse
        "eos": done Stop
        7: done Stop
        "content_filter": error ContentFilter: the service's content filter stopped the answer; rephrase the request
        "sensitive": error ContentFilter: the service's content filter stopped the answer; rephrase the request
        "error": error Api: error: the service stopped the response with an error
        "network_error": error Network: the service lost its model (network_error)
        "insufficient_system_resource": error Overloaded: the service has no capacity for the rest of the answer (insufficient_system_resource)"#]]
    .assert_eq(&all.join("\n"));
}

#[test]
fn usage_in_every_location() {
    let usage = |frame: &str| decoded(&[frame]).trace();
    let all = [
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":6}}"#,
        r#"{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}}"#,
        r#"{"choices":[{"delta":{},"usage":{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":3}}]}"#,
        r#"{"choices":null,"usage":{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":5}},"timings":{"prompt_n":9}}"#,
        r#"{"choices":[],"x_groq":{"id":"r"}}"#,
    ]
    .map(usage);
    expect![[r#"
        usage 6 in, 2 out, 4 read, 0 written, 0 in all
        done Stop
        usage 10 in, 2 out, 0 read, 0 written, 12 in all
        usage 7 in, 2 out, 3 read, 0 written, 0 in all
        usage 2 in, 0 out, 3 read, 5 written, 0 in all
    "#]]
    .assert_eq(&all.concat());
}

#[test]
fn separately_counted_reasoning_is_added_to_the_output() {
    let apart = r#"{"choices":[],"usage":{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}}"#;
    let within = r#"{"choices":[],"usage":{"prompt_tokens":32,"completion_tokens":103,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}}"#;
    let unsummed = r#"{"choices":[],"usage":{"prompt_tokens":32,"completion_tokens":103,"completion_tokens_details":{"reasoning_tokens":94}}}"#;
    let usages = [apart, within, unsummed].map(|frame| decoded(&[frame]).trace());
    expect![[r#"
        usage 32 in, 103 out, 0 read, 0 written, 135 in all
        usage 32 in, 103 out, 0 read, 0 written, 135 in all
        usage 32 in, 103 out, 0 read, 0 written, 0 in all
    "#]]
    .assert_eq(&usages.concat());
}

#[test]
fn implausible_usage_is_ignored() {
    for usage in [
        r#"{"prompt_tokens":-5,"completion_tokens":1.5,"total_tokens":18446744073709551615}"#,
        r#"{"prompt_tokens":1e400}"#,
        r#"{"prompt_tokens":"many","prompt_tokens_details":7}"#,
        "[]",
        "\"?\"",
        "null",
    ] {
        let frame = format!(
            r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"stop"}}],"usage":{usage}}}"#
        );
        assert_eq!(decoded(&[&frame]).trace(), "text \"x\"\ndone Stop\n", "{usage}");
    }
    check(
        &[r#"{"choices":[],"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9}}}"#],
        expect![[r#"
            usage 0 in, 0 out, 9 read, 0 written, 0 in all
        "#]],
    );
}

#[test]
fn errors_inside_the_stream() {
    let said = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
    let all = [
        r#"{"error":{"code":429,"message":"slow down"}}"#,
        r#"{"id":"g","error":{"code":"server_error","message":"Provider disconnected"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
        r#"{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream says no","provider_name":"P"}}}"#,
        r#"{"error":"out of memory"}"#,
        r#"{"error":{"type":"invalid_request_error"}}"#,
        r#"{"object":"error","message":"bad","type":"BadRequestError","code":400}"#,
        r#"{"choices":[{"delta":{},"error":{"code":500,"message":"inside"},"finish_reason":"error"}]}"#,
    ]
    .map(|frame| decoded(&[said, frame]).trace());
    expect![[r#"
        text "half"
        error RateLimited: 429: slow down
        text "half"
        error Overloaded: server_error: Provider disconnected
        text "half"
        error Overloaded: 502: Provider returned error: upstream says no
        text "half"
        error Api: error: out of memory
        text "half"
        error InvalidRequest: invalid_request_error: the service gave no reason
        text "half"
        error InvalidRequest: 400: bad
        text "half"
        error Overloaded: 500: inside
    "#]]
    .assert_eq(&all.concat());
    let named = decode(Chat, [("error", r#"{"message":"by name"}"#)]);
    assert_eq!(named.trace(), "error Api: error: by name\n");
}

#[test]
fn response_cut_after_any_frame_is_not_done() {
    let frames = [
        r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":"I read."}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ];
    for cut in 0..=frames.len() {
        let finished = decoded(&frames[..cut]).finished();
        let calls = finished.content.iter().filter(|block| matches!(block, Content::ToolCall(_))).count();
        let whole = cut >= 5;
        assert_eq!(calls, usize::from(whole), "{cut}");
        assert_eq!(
            finished.stop_reason,
            if whole { StopReason::ToolUse } else { StopReason::Error },
            "{cut}"
        );
    }
}

#[test]
fn call_cut_by_the_limit_is_reported_and_never_run() {
    let start = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"read","arguments":""}}]}}]}"#;
    for end in [&[r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#] as &[&str], &["[DONE]"]] {
        let frames = [&[start], end].concat();
        let finished = decoded(&frames).finished();
        let malformed: Vec<bool> = finished
            .content
            .iter()
            .map(|block| matches!(block, Content::ToolCall(call) if call.malformed.is_some()))
            .collect();
        assert_eq!(malformed, [false, true], "{end:?}");
    }
}

#[test]
fn invalid_frames_end_the_response_without_quoting_them() {
    let all = [
        "{",
        "<html>secret</html>",
        "[1]",
        r#"{"choices":"secret"}"#,
        r#"{"choices":[{"delta":{"tool_calls":"x"}}]}"#,
    ]
    .map(|frame| decoded(&[frame]).trace());
    expect![[r#"
        error Malformed: cannot read the service's response: a chunk of the chat answer ends too early (column 1)
        error Malformed: cannot read the service's response: a chunk of the chat answer is not a JSON object
        error Malformed: cannot read the service's response: a chunk of the chat answer is not a JSON object
        error Malformed: cannot read the service's response: a chunk of the chat answer has a field of the wrong type (column 19)
        error Malformed: cannot read the service's response: a chunk of the chat answer has a field of the wrong type (column 3)
    "#]]
    .assert_eq(&all.concat());
}

#[test]
fn empty_and_thinking_only_responses() {
    check(&[], expect![""]);
    check(
        &["", r#"{"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}"#, "[DONE]"],
        expect![[r#"
            done Stop
        "#]],
    );
    check(
        &[r#"{"choices":[{"delta":{"reasoning_content":"hm"},"finish_reason":"length"}]}"#],
        expect![[r#"
            thinking "hm"
            done Length
        "#]],
    );
}
