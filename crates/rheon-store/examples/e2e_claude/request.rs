//! What Claude Code sent, as recorded by the fake model server.

use std::path::Path;

use serde_json::{Value, json};

use crate::Outcome;

/// The start of what Claude Code adds itself.
const REMINDER: &str = "<system-reminder>";

/// The blocks of the last request with tools, each with its role, without what Claude Code adds itself.
pub(crate) fn sent_blocks(log: &Path) -> Outcome<Vec<Value>> {
    let log = std::fs::read_to_string(log)?;
    let requests = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let with_tools =
        |body: &Value| body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty());
    let body = requests.filter_map(|request| request.get("body").cloned()).rfind(with_tools);
    let body = body.ok_or("the real program sent no request with tools")?;
    let messages = body.get("messages").and_then(Value::as_array).ok_or("the request has no messages")?;
    Ok(messages.iter().flat_map(blocks).collect())
}

/// The blocks of a message, without what Claude Code adds itself.
fn blocks(message: &Value) -> Vec<Value> {
    let role = message.get("role").cloned().unwrap_or_default();
    let blocks = match message.get("content") {
        Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
        Some(Value::Array(blocks)) => blocks.clone(),
        Some(_) | None => Vec::new(),
    };
    let mut kept = Vec::new();
    for mut block in blocks {
        if let Some(fields) = block.as_object_mut() {
            fields.remove("cache_control");
            for key in ["text", "content"] {
                if let Some(Value::String(text)) = fields.get_mut(key) {
                    *text = text.split(REMINDER).next().unwrap_or_default().trim_end().to_owned();
                }
            }
        }
        if block.get("text") != Some(&json!("")) {
            kept.push(json!([role, block]));
        }
    }
    kept
}

/// Fails unless both are equal.
pub(crate) fn same(what: &str, found: &[Value], expected: &[Value]) -> Outcome {
    if found == expected {
        return Ok(());
    }
    let list = |values: &[Value]| values.iter().map(|value| format!("\n  {value}")).collect::<String>();
    Err(format!("{what} differ; found:{}\nexpected:{}", list(found), list(expected)).into())
}
