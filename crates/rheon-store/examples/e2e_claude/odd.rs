//! Unusual transcripts, and the comparison of how Claude Code and Rheon read each.

use std::fs;
use std::path::Path;

use rheon_store::claude::{Transcript, project_dir_name};
use rheon_types::{Content, Message};
use serde_json::{Value, json};

use crate::Outcome;
use crate::request::{same, sent_blocks};

/// The answer that Claude Code inserts before a prompt that would follow another prompt.
const FILLER: &str = "No response requested.";
/// The text it inserts for a user message without content.
const NOTHING: &str = "(no content)";
/// The start of an inserted result; the rest differs.
const MADE_UP: &str = "[Tool call interrupted";

/// Prints the names of all cases, one per line.
pub(crate) fn print_cases() {
    cases().iter().for_each(|(name, _)| println!("{name}"));
}

/// Writes the transcript of a case.
pub(crate) fn write(projects: &str, cwd: &str, id: &str, name: &str) -> Outcome {
    let (_, lines) = cases().into_iter().find(|(case, _)| *case == name).ok_or("no such case")?;
    let cwd = fs::canonicalize(cwd)?;
    let dir = Path::new(projects).join(project_dir_name(&cwd));
    fs::create_dir_all(&dir)?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(dir.join(format!("{id}.jsonl")), text)?;
    Ok(())
}

/// Compares what Claude Code sent for a case with what Rheon reads.
pub(crate) fn compare(log: &Path, name: &str) -> Outcome {
    let (_, lines) = cases().into_iter().find(|(case, _)| *case == name).ok_or("no such case")?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let messages = Transcript::read(text.as_bytes())?.messages();
    let read: Vec<Value> = messages.iter().filter_map(|message| message.as_llm()).flat_map(shape).collect();
    let mut sent: Vec<Value> = sent_blocks(log)?.iter().filter_map(sent_shape).collect();
    if sent.pop() != Some(json!(["user", "hi"])) {
        return Err("the request does not end with the prompt".into());
    }
    if sent.last() == Some(&json!(["assistant", FILLER])) {
        sent.truncate(sent.len().saturating_sub(1));
    }
    sent.retain(|block| *block != json!(["user", NOTHING]));
    same("what the real program sent and what we read", &sent, &read)
}

fn shape(message: &Message) -> Vec<Value> {
    let role = match message {
        Message::Assistant(_) => "assistant",
        Message::User(_) | Message::ToolResult(_) => "user",
    };
    if let Message::ToolResult(result) = message {
        return vec![json!([role, "result", result.tool_call_id, cut(&message.text())])];
    }
    let block = |content: &Content| match content {
        Content::Text { text } => json!([role, text]),
        Content::ToolCall(call) => json!([role, "call", call.id]),
        Content::Image { .. } | Content::Thinking { .. } => json!([role, "other"]),
    };
    message.content().iter().map(block).collect()
}

fn sent_shape(sent: &Value) -> Option<Value> {
    let (role, block) = (sent.get(0)?, sent.get(1)?);
    let field = |name: &str| block.get(name).cloned().unwrap_or_default();
    Some(match block.get("type")?.as_str()? {
        "text" => json!([role, field("text")]),
        "tool_use" => json!([role, "call", field("id")]),
        "tool_result" => json!([role, "result", field("tool_use_id"), cut(field("content").as_str()?)]),
        _ => json!([role, "other"]),
    })
}

fn cut(text: &str) -> &str {
    if text.starts_with(MADE_UP) { MADE_UP } else { text }
}

/// Hand-written transcripts with the minimal fields that Claude Code requires.
fn cases() -> Vec<(&'static str, Vec<Value>)> {
    let (go, one) = (user("a", None, "go"), answer("b", "a", "m", text("1")));
    let calls = [go.clone(), answer("b", "a", "m", call("t1")), answer("c", "b", "m", call("t2"))];
    let with = |more: &[Value]| [&calls, more].concat();
    let next = [user("c", Some("b"), "two"), answer("d", "c", "n", text("2"))];
    let plain = [&[go.clone(), one.clone()], &next[..]].concat();
    let branch = [user("x", Some("b"), "other"), answer("y", "x", "o", text("3"))];
    let side = |mut entry: Value| {
        set(&mut entry, "isSidechain", json!(true));
        entry
    };
    let unknown = |kind: &str| json!({"type": kind, "uuid": "p", "parentUuid": "a", "timestamp": time("a")});
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "uuid": "k", "parentUuid": null, "timestamp": time("b"),
        "content": "Conversation compacted", "compactMetadata": {"trigger": "auto", "preTokens": 1},
    });
    let done = |parent: &str| answer("z", parent, "n", text("done"));
    vec![
        ("side_by_side", with(&[result("e", "c", "t2"), result("d", "b", "t1"), done("d")])),
        ("one_result_missing_at_the_end", with(&[result("e", "c", "t2")])),
        (
            "a_result_before_the_answer_is_whole",
            vec![
                go.clone(),
                answer("b", "a", "m", call("t1")),
                result("d", "b", "t1"),
                answer("c", "d", "m", call("t2")),
                result("e", "c", "t2"),
                done("e"),
            ],
        ),
        (
            "a_result_apart",
            vec![
                go.clone(),
                answer("b", "a", "m", call("t1")),
                user("c", Some("b"), "hurry"),
                result("d", "c", "t1"),
                done("d"),
            ],
        ),
        (
            "a_result_twice",
            vec![
                go.clone(),
                answer("b", "a", "m", call("t1")),
                result("c", "b", "t1"),
                result("d", "b", "t1"),
                done("d"),
            ],
        ),
        ("a_result_of_nothing", vec![go.clone(), one.clone(), result("c", "b", "t9"), done("c")]),
        ("one_id_for_all", vec![go.clone(), one.clone(), next[0].clone(), answer("d", "c", "m", text("2"))]),
        ("backwards", plain.iter().rev().cloned().collect()),
        ("two_branches", [&plain[..], &branch].concat()),
        ("a_note_on_the_first_of_two_branches", [&plain[..], &branch, &[note("z", "d")]].concat()),
        ("lost_parent", vec![go.clone(), one.clone(), user("c", Some("lost"), "two"), next[1].clone()]),
        ("no_parent", vec![go.clone(), one.clone(), user("c", None, "two"), next[1].clone()]),
        ("sub_agent_at_the_end", [&plain[..], &[side(user("s", Some("d"), "sub"))]].concat()),
        (
            "unknown_link",
            vec![go.clone(), unknown("novelty"), answer("b", "p", "m", text("1")), next[0].clone()],
        ),
        ("boundary_alone", vec![go, one, boundary, user("c", Some("k"), "two"), next[1].clone()]),
    ]
}

/// Times in alphabetical order of the uuids: some cases change the order of lines, not the order of time.
fn time(uuid: &str) -> String {
    let second = uuid.bytes().next().map_or(0, |letter| letter.saturating_sub(b'a'));
    format!("2026-11-14T20:00:{second:02}.000Z")
}

fn set(entry: &mut Value, key: &str, value: Value) {
    if let Some(fields) = entry.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    let message = json!({"role": "user", "content": text});
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": time(uuid), "message": message})
}

fn answer(uuid: &str, parent: &str, id: &str, block: Value) -> Value {
    let message = json!({"id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": [block]});
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "timestamp": time(uuid), "message": message})
}

fn result(uuid: &str, parent: &str, call: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call, "content": format!("result {uuid}")});
    let message = json!({"role": "user", "content": [block]});
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": time(uuid), "message": message})
}

/// What Claude Code writes to inform the user; it is not sent to a model.
fn note(uuid: &str, parent: &str) -> Value {
    json!({
        "type": "system", "subtype": "informational", "uuid": uuid, "parentUuid": parent, "timestamp": time(uuid),
        "content": "This one.", "isMeta": false, "level": "info",
    })
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "true"}})
}
