//! Messages as lines: one per block of an answer, one per result, one per prompt.

use std::path::Path;
use std::sync::Arc;

use rheon_store::claude::{answer_entries, usage_json, wire_call_id, write_input_block};
use rheon_types::{AssistantMessage, Content, SignatureKind, ToolCall, ToolResult, ToolResultMessage, Usage};
use serde_json::{Value, json};

use super::tool::{claude_call, claude_result};

/// The model of a line that no model wrote.
const NO_MODEL: &str = "<synthetic>";

/// How a tool call ended, besides what the model reads of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Ending {
    pub(super) result: Arc<ToolResult>,
    pub(super) duration_ms: u64,
}

/// The lines of an answer, one per block, each with the number of its entry in the transcript, if it has one.
pub(super) fn answer_lines(
    answer: &AssistantMessage,
    message_id: &str,
    dir: &Path,
) -> Vec<(Option<u64>, Value)> {
    let line = |block: &Value| {
        let usage = usage_json(&answer.usage);
        json!({ "type": "assistant", "message": message(message_id, &answer.model, block, &usage) })
    };
    let blocks = answer_entries(answer).into_iter().zip(&answer.content);
    blocks.filter_map(|(entry, content)| Some((entry, line(&block(content, dir)?)))).collect()
}

/// The line for a failure of the service.
pub(super) fn failure_line(text: &str, error: &str, message_id: &str) -> Value {
    let block = json!({ "type": "text", "text": text });
    let usage = usage_json(&Usage::default());
    let message = message(message_id, NO_MODEL, &block, &usage);
    json!({ "type": "assistant", "message": message, "error": error, "isApiErrorMessage": true })
}

/// The line of a result.
pub(super) fn result_line(
    result: &ToolResultMessage,
    call: Option<&ToolCall>,
    ending: Option<&Ending>,
    dir: &Path,
) -> Value {
    let block = json!({
        "type": "tool_result",
        "tool_use_id": wire_call_id(result.tool_call_id.as_str()),
        "content": shown(&result.content),
        "is_error": result.is_error,
    });
    let told = match (call, ending) {
        (Some(call), Some(ending)) if !result.is_error => {
            claude_result(call, dir, &ending.result, ending.duration_ms)
        }
        (Some(_) | None, _) => {
            let text = texts(&result.content);
            Value::String(if result.is_error { format!("Error: {text}") } else { text })
        }
    };
    json!({ "type": "user", "message": { "role": "user", "content": [block] }, "tool_use_result": told })
}

/// The line of a user message.
pub(super) fn prompt_line(content: &[Content]) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": shown(content) } })
}

fn message(id: &str, model: &str, block: &Value, usage: &Value) -> Value {
    json!({
        "id": id, "type": "message", "role": "assistant", "model": model, "content": [block],
        "stop_reason": null, "stop_sequence": null, "usage": usage, "context_management": null,
    })
}

/// A block of an answer; none for one without visible content.
fn block(content: &Content, dir: &Path) -> Option<Value> {
    match content {
        Content::Text { text } if text.is_empty() => None,
        Content::Text { .. } | Content::Image { .. } => write_input_block(content),
        Content::Thinking { thinking, signature } => {
            let signature = signature.as_ref();
            match signature.map(|signature| signature.kind) {
                Some(SignatureKind::Redacted) => {
                    let data = signature.map(|signature| signature.data.as_str());
                    Some(json!({ "type": "redacted_thinking", "data": data }))
                }
                Some(SignatureKind::Next) => None,
                Some(SignatureKind::Proof) | None => {
                    // Clients expect a signature, but not every service sends one.
                    let data = signature.map(|signature| signature.data.as_str()).unwrap_or_default();
                    Some(json!({ "type": "thinking", "thinking": thinking, "signature": data }))
                }
            }
        }
        Content::ToolCall(call) => {
            let foreign = claude_call(call, dir);
            let id = wire_call_id(call.id.as_str());
            Some(
                json!({ "type": "tool_use", "id": id, "name": foreign.tool_name, "input": foreign.tool_input }),
            )
        }
    }
}

/// A single text block as a string, anything else as a list.
fn shown(content: &[Content]) -> Value {
    match content {
        [Content::Text { text }] => Value::String(text.clone()),
        [] => Value::String(String::new()),
        blocks => blocks.iter().filter_map(write_input_block).collect(),
    }
}

fn texts(content: &[Content]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|content| match content {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => None,
        })
        .collect();
    texts.join("\n")
}
