//! Responses API: every event, cuts, counts and errors.

use expect_test::{Expect, expect};
use rheon_types::{Content, ProviderErrorKind, Request, StopReason};

use crate::catalog::ThinkingStyle;
use crate::compat::Compat;
use crate::wire::WireKind::Responses;
use crate::wire::open_calls::CALLS_MAX;
use crate::wire::openai_fixtures::*;

/// Decodes events, once with the name in the frame and once only in the data: both must give the same result.
fn decoded(events: &[&str]) -> Decoded {
    let names: Vec<String> = events
        .iter()
        .map(|data| {
            let value: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
            value["type"].as_str().unwrap_or_default().to_owned()
        })
        .collect();
    let named = decode(Responses, names.iter().map(String::as_str).zip(events.iter().copied()));
    let bare = decode(Responses, events.iter().map(|data| ("", *data)));
    assert_eq!(named.chunks, bare.chunks);
    named
}

#[track_caller]
fn check(events: &[&str], expected: Expect) {
    let decoded = decoded(events);
    expected.assert_eq(&decoded.trace());
    decoded.finished();
}

const CREATED: &str = r#"{"type":"response.created","response":{"id":"resp_1","model":"m-1-2026","status":"in_progress","usage":null,"error":null,"incomplete_details":null,"output":[]}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"status":"completed","model":"m-1-2026","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":120}}}"#;

#[test]
fn text_and_refusals() {
    check(
        &[
            CREATED,
            r#"{"type":"response.in_progress","response":{"model":"m-1-2026"}}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","status":"in_progress","content":[]}}"#,
            r#"{"type":"response.content_part.added","part":{"type":"output_text"}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"Grüße "}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"\ud83e\udd80\n"}"#,
            r#"{"type":"response.refusal.delta","output_index":0,"delta":"No."}"#,
            r#"{"type":"response.output_text.done","text":"Grüße 🦀\n"}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"Grüße 🦀\n","annotations":[]}]}}"#,
            COMPLETED,
        ],
        expect![[r#"
            model m-1-2026
            text "Grüße "
            text "🦀\n"
            text "No."
            usage 36 in, 20 out, 64 read, 0 written, 120 in all
            done Stop
        "#]],
    );
}

#[test]
fn reasoning_and_parallel_calls() {
    check(
        &[
            CREATED,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}"#,
            r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"One"}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"."}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"Two."}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"gAA\u002b/="}}"#,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_a","name":"read","arguments":""}}"#,
            r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_2","call_id":"call_b","name":"list","arguments":""}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":"{\"n\""}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":":1}"}"#,
            r#"{"type":"response.function_call_arguments.done","output_index":1,"item_id":"fc_1","arguments":"{\"n\":1}"}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_a","name":"read","arguments":"{\"n\":1}"}}"#,
            r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_2","call_id":"call_b","name":"list","arguments":"{\"m\":2}"}}"#,
            r#"{"type":"response.output_item.added","output_index":3,"item":{"type":"web_search_call","id":"ws"}}"#,
            r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"custom_tool_call","id":"c","input":"x"}}"#,
            r#"{"type":"response.something.new","x":1}"#,
            COMPLETED,
        ],
        expect![[r#"
            model m-1-2026
            thinking "One"
            thinking "."
            thinking "\n\n"
            thinking "Two."
            signature gAA+/= id rs_1 of acme/m-1
            call 0 call_a read
            call 1 call_b list
            call 0 + {"n"
            call 0 + :1}
            call 0 end
            call 1 + {"m":2}
            call 1 end
            usage 36 in, 20 out, 64 read, 0 written, 120 in all
            done ToolUse
        "#]],
    );
}

#[test]
fn raw_legacy_and_final_reasoning() {
    check(
        &[
            r#"{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"raw"}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"raw"}],"encrypted_content":null}}"#,
            r#"{"type":"response.reasoning.delta","delta":"older"}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","summary":[]}}"#,
            r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"reasoning","id":"rs_3","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"E3"}}"#,
            r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"reasoning","id":"rs_4","summary":[],"encrypted_content":"E4"}}"#,
            r#"{"type":"response.output_item.done","output_index":4,"item":{"type":"reasoning","id":"rs_5","summary":[]}}"#,
            r#"{"type":"response.output_item.done","output_index":5,"item":{"type":"message","content":[{"type":"output_text","text":"said"},{"type":"refusal","refusal":"no"}]}}"#,
            r#"{"type":"response.completed","response":{}}"#,
        ],
        expect![[r#"
            thinking "raw"
            signature  id rs_1 of acme/m-1
            thinking "older"
            signature  id - of acme/m-1
            thinking "a"
            thinking "\n\n"
            thinking "b"
            signature E3 id rs_3 of acme/m-1
            signature E4 id rs_4 of acme/m-1
            text "said"
            text "no"
            done Stop
        "#]],
    );
}

#[test]
fn calls_announced_by_arguments_or_only_at_the_end() {
    check(
        &[
            r#"{"type":"response.function_call_arguments.start","item_id":"fc_1","call_id":"call_a","name":"read"}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{}"}"#,
            r#"{"type":"response.function_call_arguments.done","item_id":"fc_1","arguments":"{}"}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"unknown","delta":"lost"}"#,
            r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"call_b","name":"list","arguments":"{\"n\":1}"}}"#,
            r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"call_c","name":"list","arguments":""}}"#,
            r#"{"type":"response.completed","response":{}}"#,
        ],
        expect![[r#"
            call 0 call_a read
            call 0 + {}
            call 1 call_b list
            call 1 + {"n":1}
            call 1 end
            call 2 call_c list
            call 0 end
            call 2 end
            done ToolUse
        "#]],
    );
}

#[test]
fn call_cut_before_its_arguments_is_not_run() {
    let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_a","name":"wipe","arguments":"","status":"in_progress"}}"#;
    let incomplete = r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}"#;
    for status in ["\"incomplete\"", "null"] {
        let done = format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"function_call","id":"fc_1","call_id":"call_a","name":"wipe","arguments":"","status":{status}}}}}"#
        );
        let finished = decoded(&[added, &done, incomplete]).finished();
        assert_eq!(finished.stop_reason, StopReason::Length);
        let [Content::ToolCall(call)] = &finished.content[..] else { panic!("{finished:?}") };
        assert!(call.malformed.is_some(), "{status}: {call:?}");
    }
    let done = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_a","name":"list","arguments":"","status":"completed"}}"#;
    let finished = decoded(&[added, done, incomplete]).finished();
    let [Content::ToolCall(call)] = &finished.content[..] else { panic!("{finished:?}") };
    assert_eq!(call.malformed, None);
}

#[test]
fn encrypted_reasoning_round_trips_byte_for_byte() {
    let data = "gAAAAABé+/=\\\"\u{1}🦀".repeat(50);
    let item = serde_json::json!({"type": "response.output_item.done", "output_index": 0, "item":
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": data}});
    let finished =
        decoded(&[&item.to_string(), r#"{"type":"response.output_text.delta","delta":"hello"}"#, COMPLETED])
            .finished();
    let stored = serde_json::to_string(&answer(finished.content)).unwrap();
    let request = Request {
        messages: history([user("x"), serde_json::from_str(&stored).unwrap()]),
        ..Request::new("m-1")
    };
    let body = body(Responses, &request, &model(ThinkingStyle::Always), &Compat::default());
    assert_eq!(
        body["input"][1],
        serde_json::json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": data})
    );
    assert_eq!(body["input"][2]["content"][0]["text"], "hello");
}

#[test]
fn incomplete_responses_have_a_reason() {
    let call = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","call_id":"a","name":"read"}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}"#,
    ];
    let end = |reason: &str| {
        format!(
            r#"{{"type":"response.incomplete","response":{{"incomplete_details":{reason},"usage":{{"input_tokens":1,"output_tokens":2}}}}}}"#
        )
    };
    let length = decoded(&[call[0], call[1], &end(r#"{"reason":"max_output_tokens"}"#)]);
    expect![[r#"
        call 0 a read
        call 0 + {}
        usage 1 in, 2 out, 0 read, 0 written, 0 in all
        done Length
    "#]]
    .assert_eq(&length.trace());
    let finished = length.finished();
    assert!(matches!(&finished.content[..], [Content::ToolCall(call)] if call.malformed.is_some()));
    let filtered = decoded(&[&end(r#"{"reason":"content_filter"}"#)]);
    assert_eq!(filtered.error.map(|error| error.kind), Some(ProviderErrorKind::ContentFilter));
    assert_eq!(decoded(&[&end("null")]).finished().stop_reason, StopReason::Length);
}

#[test]
fn failures_and_errors() {
    let all = [
        r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}"#,
        r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#,
        r#"{"type":"response.cancelled","response":{}}"#,
        r#"{"type":"error","code":"server_error","message":"broken","param":null}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"too long"}}"#,
    ]
    .map(|event| decoded(&[event]).trace());
    expect![[r#"
        error RateLimited: rate_limit_exceeded: slow down
        error Api: error: the service gave no reason
        error Api: error: the service gave no reason
        error Overloaded: server_error: broken
        error ContextOverflow: context_length_exceeded: too long
    "#]]
    .assert_eq(&all.concat());
}

#[test]
fn response_cut_after_any_event_is_not_done() {
    let events = [
        CREATED,
        r#"{"type":"response.output_text.delta","delta":"I read."}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f","call_id":"a","name":"read"}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"f","call_id":"a","name":"read","arguments":"{}"}}"#,
        COMPLETED,
        "[DONE]",
    ];
    for cut in 0..=events.len() {
        let finished = decoded(&events[..cut]).finished();
        let calls = finished.content.iter().filter(|block| matches!(block, Content::ToolCall(_))).count();
        assert_eq!(calls, usize::from(cut >= 5), "{cut}");
        let expected = if cut >= 6 { StopReason::ToolUse } else { StopReason::Error };
        assert_eq!(finished.stop_reason, expected, "{cut}");
    }
}

#[test]
fn whole_response_as_one_frame() {
    let whole = r#"{"object":"response","status":"completed","model":"m","error":null,"output":[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"E"},{"type":"message","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}"#;
    expect![[r#"
        signature E id rs of acme/m-1
        text "hi"
        call 0 a read
        call 0 + {}
        call 0 end
        model m
        usage 1 in, 2 out, 0 read, 0 written, 3 in all
        done ToolUse
    "#]]
    .assert_eq(&decode(Responses, [("", whole)]).trace());
    let failed = r#"{"object":"response","status":"failed","error":{"code":"server_error","message":"no"}}"#;
    assert_eq!(decode(Responses, [("", failed)]).trace(), "error Overloaded: server_error: no\n");
}

#[test]
fn implausible_usage_is_ignored() {
    for usage in [
        r#"{"input_tokens":-1,"output_tokens":1e400}"#,
        r#"{"input_tokens":1e300,"input_tokens_details":[]}"#,
        "[]",
        "7",
    ] {
        let event = format!(r#"{{"type":"response.completed","response":{{"usage":{usage}}}}}"#);
        assert_eq!(decoded(&[&event]).trace(), "done Stop\n", "{usage}");
    }
}

#[test]
fn unreadable_events_are_named_without_their_content() {
    let all = [
        ("response.output_text.delta", "{\"delta\":\"secret"),
        ("response.output_item.done", r#"{"item":"secret"}"#),
        ("", "secret"),
        ("", "[]"),
    ]
    .map(|event| decode(Responses, [event]).trace());
    expect![[r#"
        error Malformed: cannot read the service's response: response.output_text.delta ends too early (column 16)
        error Malformed: cannot read the service's response: response.output_item.done has a field of the wrong type (column 16)
        error Malformed: cannot read the service's response: an event of the answer is not a JSON object
        error Malformed: cannot read the service's response: an event of the answer is not a JSON object
    "#]]
    .assert_eq(&all.concat());
}

#[test]
fn too_many_calls_end_the_response() {
    let events: Vec<String> = (0..=CALLS_MAX)
        .map(|n| format!(r#"{{"type":"response.output_item.added","output_index":{n},"item":{{"type":"function_call","name":"n"}}}}"#))
        .collect();
    let all = |count: usize| decode(Responses, events.iter().take(count).map(|event| ("", event.as_str())));
    assert!(all(CALLS_MAX).error.is_none());
    assert_eq!(all(CALLS_MAX + 1).error.map(|error| error.kind), Some(ProviderErrorKind::Malformed));
}

#[test]
fn empty_and_thinking_only_responses() {
    check(&[], expect![""]);
    check(
        &[r#"{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"hm"}"#, COMPLETED],
        expect![[r#"
            thinking "hm"
            model m-1-2026
            usage 36 in, 20 out, 64 read, 0 written, 120 in all
            done Stop
        "#]],
    );
}
