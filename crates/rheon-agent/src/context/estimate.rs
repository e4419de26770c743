//! A rough count of tokens, for when nobody better is there to ask: four bytes make one.

use rheon_types::{AgentMessage, Content};
use serde_json::Value;

const BYTES_PER_TOKEN: u64 = 4;

/// What a picture weighs, whatever its bytes: services count its area, which is bounded.
const IMAGE_TOKENS: u64 = 1_500;

/// The tokens of one message, tool calls and results included.
pub(crate) fn estimate_tokens(message: &AgentMessage) -> u64 {
    let Some(message) = message.as_llm() else { return 0 };
    message.content().iter().map(estimate_block).sum()
}

/// The tokens of one block.
pub(crate) fn estimate_block(block: &Content) -> u64 {
    match block {
        Content::Text { text } => tokens(text.len()),
        Content::Image { .. } => IMAGE_TOKENS,
        Content::Thinking { thinking, .. } => tokens(thinking.len()),
        Content::ToolCall(call) => tokens(call.name.as_str().len() + json_bytes(&call.arguments)),
    }
}

fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// About how long `value` is as text, without writing it.
fn json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| json_bytes(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| key.len() + json_bytes(value) + 4).sum::<usize>() + 2
        }
    }
}
