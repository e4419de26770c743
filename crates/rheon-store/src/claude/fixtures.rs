//! Lines in the form Claude Code writes, and messages as one line of text each, for tests.

use rheon_types::{AgentMessage, Author, Content, Message};
use serde_json::{Value, json};

use super::transcript::Transcript;

pub(super) const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// An entry with Claude Code's envelope; `second` is its time.
fn entry(kind: &str, uuid: &str, parent: Option<&str>, message: Value) -> Value {
    let second = uuid.bytes().map(u32::from).sum::<u32>() % 60;
    json!({
        "parentUuid": parent,
        "isSidechain": false,
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": format!("2026-11-14T20:00:{second:02}.500Z"),
        "userType": "external",
        "entrypoint": "cli",
        "cwd": "/home/dev/project",
        "sessionId": SESSION,
        "version": "2.1.325",
        "gitBranch": "main",
    })
}

pub(super) fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    entry("user", uuid, parent, json!({"role": "user", "content": text}))
}

/// One block of the answer `id`.
pub(super) fn answer(uuid: &str, parent: Option<&str>, id: &str, block: Value) -> Value {
    let message = json!({
        "id": id, "type": "message", "role": "assistant", "model": "claude-test", "content": [block],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1},
    });
    entry("assistant", uuid, parent, message)
}

pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(super) fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "true"}})
}

pub(super) fn result(uuid: &str, parent: Option<&str>, call: &str, content: Value) -> Value {
    let block = json!({"tool_use_id": call, "type": "tool_result", "content": content, "is_error": false});
    let mut entry = entry("user", uuid, parent, json!({"role": "user", "content": [block]}));
    entry["toolUseResult"] = json!({"stdout": "ok", "stderr": "", "interrupted": false});
    entry["sourceToolAssistantUUID"] = json!(parent);
    entry
}

/// `entry` with one more field.
pub(super) fn with(mut entry: Value, key: &str, value: Value) -> Value {
    entry[key] = value;
    entry
}

pub(super) fn file(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub(super) fn read(text: &str) -> Transcript {
    Transcript::read(text.as_bytes()).unwrap()
}

/// The conversation in `lines`, one message per line.
pub(super) fn shown(lines: &[Value]) -> String {
    show(&read(&file(lines)).messages())
}

pub(super) fn show(messages: &[AgentMessage]) -> String {
    messages.iter().filter_map(AgentMessage::as_llm).map(|message| format!("{}\n", line(message))).collect()
}

fn line(message: &Message) -> String {
    let blocks: Vec<String> = message.content().iter().map(block).collect();
    let blocks = blocks.join(" + ");
    match message {
        Message::User(user) if user.author == Author::Runtime => format!("note: {blocks}"),
        Message::User(_) => format!("user: {blocks}"),
        Message::Assistant(answer) => {
            let error =
                answer.error_message.as_deref().map(|error| format!(" error: {error}")).unwrap_or_default();
            format!("assistant ({:?}): {blocks}{error}", answer.stop_reason)
        }
        Message::ToolResult(result) => {
            let error = if result.is_error { " error" } else { "" };
            format!("result of {} {}{error}: {blocks}", result.tool_name, result.tool_call_id)
        }
    }
}

fn block(content: &Content) -> String {
    match content {
        Content::Text { text } => format!("{text:?}"),
        Content::Image { mime_type, data } => format!("image {mime_type} {data}"),
        Content::Thinking { thinking, signature } => {
            let signature = signature.as_ref().map(|it| format!("{:?} {} {}", it.kind, it.data, it.origin));
            format!("thinking {thinking:?} signed {signature:?}")
        }
        Content::ToolCall(call) => format!("call {} {} {}", call.id, call.name, call.arguments),
    }
}
