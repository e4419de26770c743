//! Long texts are cut, everything else stays.

use expect_test::expect;
use rheon_types::Event;
use serde_json::{Value, json};

use super::{Strings, TruncationReport, truncate};
use crate::blobs::{Blobs, externalize};

fn event(kind: Value) -> String {
    let long = json!({ "seq": 1, "at": 5, "session_id": "s", "run_id": "s.c.1", "kind": kind });
    // In the order events are written, not in the sorted order of maps.
    serde_json::to_string(&serde_json::from_value::<Event>(long).unwrap()).unwrap()
}

fn long() -> String {
    "a \"quoted\" line\\\n".repeat(200)
}

fn assistant(content: &Value) -> Value {
    json!({ "role": "assistant", "content": content, "stop_reason": "toolUse", "model": "m", "provider": "p",
        "usage": {}, "timestamp": 7 })
}

/// The remaining event, and the number of texts that were cut.
fn left(kind: Value) -> String {
    let (text, truncation) = truncate(&event(kind), Strings::InPlace).unwrap();
    let event: Event = serde_json::from_str(&text).unwrap();
    format!("{}\n{}", truncation.texts, serde_json::to_string(&event.kind).unwrap())
}

#[test]
fn a_tool_result_keeps_everything_but_its_texts() {
    let content = json!([{ "type": "text", "text": long() }, { "type": "text", "text": "short" }]);
    let result = json!({ "content": content, "details": { "diff": [long()], "exit": 0 } });
    let kind = json!({ "type": "tool.end", "call_id": "a", "name": "read", "result": result, "is_error": false,
        "duration_ms": 3 });
    expect![[r#"
        2
        {"type":"tool.end","call_id":"a","name":"read","result":{"content":[{"type":"text","text":"[Omitted when the session was resumed: a text of about 5 KB. The session log has all of it.]"},{"type":"text","text":"short"}],"details":{"diff":["[Omitted when the session was resumed: a text of about 5 KB. The session log has all of it.]"],"exit":0}},"is_error":false,"duration_ms":3}"#]]
    .assert_eq(&left(kind));
}

#[test]
fn an_answer_keeps_its_calls_and_loses_truncated_thinking() {
    let content = json!([
        { "type": "thinking", "thinking": "short", "signature": { "data": long(), "origin": "v/m" } },
        { "type": "thinking", "thinking": "kept", "signature": { "data": "proof", "origin": "v/m" } },
        { "type": "thinking", "thinking": long() },
        { "type": "toolCall", "id": "a", "name": "write", "arguments": { "path": "x", "content": long() } },
        { "type": "text", "text": "Done." },
    ]);
    expect![[r#"
        3
        {"type":"message.end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"kept","signature":{"data":"proof","origin":"v/m"}},{"type":"toolCall","id":"a","name":"write","arguments":{"content":"[Omitted when the session was resumed: a text of about 5 KB. The session log has all of it.]","path":"x"}},{"type":"text","text":"Done."}],"stop_reason":"toolUse","model":"m","provider":"p","usage":{"input":0,"output":0,"cache_read":0,"cache_write":0,"total_tokens":0},"timestamp":7}}"#]]
    .assert_eq(&left(json!({ "type": "message.end", "message": assistant(&content) })));
}

#[test]
fn an_image_becomes_a_text() {
    let content = json!([{ "type": "image", "data": "A".repeat(9_000), "mime_type": "image/png" }]);
    let message = json!({ "role": "user", "content": content, "timestamp": 7 });
    expect![[r#"
        1
        {"type":"message.start","message":{"role":"user","content":[{"type":"text","text":"[Omitted when the session was resumed: an image of about 9 KB. The session log has all of it.]"}],"timestamp":7}}"#]]
    .assert_eq(&left(json!({ "type": "message.start", "message": message })));
}

#[test]
fn payloads_are_omitted_without_being_read() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::new(dir.path().join("blobs"), 1 << 30);
    let wrapped = json!({ "$blob": "mine", "text": "x".repeat(40_000) });
    let content = json!([{ "type": "toolCall", "id": "a", "name": "write", "arguments": wrapped }]);
    let text = event(json!({ "type": "message.end", "message": assistant(&content) }));
    let raw = serde_json::value::RawValue::from_string(text).unwrap();
    let (stored, count) = externalize(&raw, &blobs).unwrap();
    assert_eq!(count, 1);
    std::fs::remove_dir_all(dir.path().join("blobs")).unwrap();
    let (text, truncation) = truncate(stored.get(), Strings::AsBlobs(&blobs)).unwrap();
    assert_eq!(truncation, TruncationReport { texts: 1, bytes: 40_000 });
    let arguments =
        &serde_json::from_str::<Value>(&text).unwrap()["kind"]["message"]["content"][0]["arguments"];
    expect![[r#"{"$blob":"mine","text":"[Omitted when the session was resumed: a text of about 40 KB. The session log has all of it.]"}"#]]
    .assert_eq(&arguments.to_string());
}

#[test]
fn events_whose_texts_are_still_needed_are_left_alone() {
    for kind in [
        json!({ "type": "task.update", "items": [{ "text": long(), "status": "pending" }] }),
        json!({ "type": "tool.blocked", "call_id": "a", "name": "read", "reason": long() }),
        json!({ "type": "subagent.start", "child": { "session_id": "x", "run_id": "x.c.1" }, "task": long() }),
    ] {
        let text = serde_json::to_string(&json!({ "seq": 1, "kind": kind })).unwrap();
        assert_eq!(truncate(&text, Strings::InPlace), None, "{text}");
    }
}

#[test]
fn short_and_unrecognized_events_are_left_alone() {
    assert_eq!(truncate("{\"kind\":{\"type\":\"message.end\",\"text\":\"short\"}}", Strings::InPlace), None);
    let long = long().replace(['"', '\\', '\n'], "");
    let odd = format!("{{\"kind\":{{\"type\":\"message.end\",\"text\":\"{long}\"}}}}");
    assert!(truncate(&odd, Strings::InPlace).is_some());
    for length in 0..odd.len() {
        assert_eq!(truncate(odd.get(..length).unwrap(), Strings::InPlace), None, "cut at {length}");
    }
    let deep = format!("{}\"{long}\"{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(
        truncate(&format!("{{\"kind\":{{\"type\":\"message.end\",\"text\":{deep}}}}}"), Strings::InPlace),
        None
    );
}
