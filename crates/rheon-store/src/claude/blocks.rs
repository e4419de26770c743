//! Converts single content blocks between the transcript format and ours.

use std::sync::Arc;

use rheon_types::{Content, Signature, SignatureKind, ToolCall};
use serde_json::{Value, json};

use super::extras::BlockExtras;
use super::ids::wire_call_id;

/// The vendor whose signatures Claude Code may send back.
const VENDOR: &str = "anthropic/";

/// The `origin` of content signed by `model`.
fn origin_of(model: &str) -> String {
    format!("{VENDOR}{model}")
}

fn text_at<'a>(block: &'a Value, key: &str) -> Option<&'a str> {
    block.get(key).and_then(Value::as_str)
}

/// Reads a block of a user message or tool result. Returns `None` for unsupported kinds.
pub fn read_input_block(block: &Value) -> Option<Content> {
    match text_at(block, "type")? {
        "text" => text_at(block, "text").map(Content::text),
        "image" => {
            let source = block.get("source")?;
            let data = text_at(source, "data")?.to_owned();
            Some(Content::Image { data, mime_type: text_at(source, "media_type")?.to_owned() })
        }
        _ => None,
    }
}

/// Reads a block of an answer of `model`. Returns `None` for unsupported kinds.
pub(super) fn read_answer_block(block: &Value, model: &str, extras: Option<BlockExtras>) -> Option<Content> {
    let extras = extras.unwrap_or_default();
    let signed = |data: &str, kind| Signature {
        data: data.to_owned(),
        kind,
        id: extras.signature_id.clone(),
        origin: extras.origin.clone().unwrap_or_else(|| origin_of(model)),
    };
    match text_at(block, "type")? {
        "text" => text_at(block, "text").map(Content::text),
        "thinking" => {
            let data = text_at(block, "signature").filter(|data| !data.is_empty());
            let signature = data.map(|data| signed(data, SignatureKind::Proof));
            Some(Content::Thinking { thinking: text_at(block, "thinking")?.to_owned(), signature })
        }
        "redacted_thinking" => {
            let signature = Some(signed(text_at(block, "data")?, SignatureKind::Redacted));
            Some(Content::Thinking { thinking: String::new(), signature })
        }
        "tool_use" => {
            let id = extras.call_id.clone().map_or_else(|| text_at(block, "id").map(str::to_owned), Some)?;
            // Services reject arguments that are not an object.
            let input = block.get("input").filter(|input| input.is_object()).cloned();
            let arguments = Arc::new(input.unwrap_or_else(|| json!({})));
            let name = text_at(block, "name")?.into();
            Some(Content::ToolCall(ToolCall {
                id: id.into(),
                name,
                arguments,
                malformed: extras.malformed,
                key_order: None,
            }))
        }
        _ => None,
    }
}

/// Writes a block of a user message or tool result. Returns `None` if the format has no such block there.
pub fn write_input_block(content: &Content) -> Option<Value> {
    match content {
        Content::Text { text } => Some(json!({"type": "text", "text": text})),
        Content::Image { data, mime_type } => Some(json!({
            "type": "image",
            "source": {"type": "base64", "media_type": mime_type, "data": data},
        })),
        Content::Thinking { .. } | Content::ToolCall(_) => None,
    }
}

/// Writes a block of an answer of `model`, and what the format cannot hold. Returns `None` for content that a Claude
/// model rejects: empty text, images, and thinking signed by another service.
pub(super) fn write_answer_block(content: &Content, model: &str) -> Option<(Value, BlockExtras)> {
    let mut extras = BlockExtras::default();
    let block = match content {
        Content::Text { text } if text.trim().is_empty() => return None,
        Content::Text { text } => json!({"type": "text", "text": text}),
        Content::Image { .. } => return None,
        Content::Thinking { thinking, signature } => {
            let signature = signature.as_ref().filter(|signature| signature.origin.starts_with(VENDOR))?;
            extras.origin = (signature.origin != origin_of(model)).then(|| signature.origin.clone());
            extras.signature_id.clone_from(&signature.id);
            match signature.kind {
                SignatureKind::Proof if !signature.data.is_empty() => {
                    json!({"type": "thinking", "thinking": thinking, "signature": signature.data})
                }
                SignatureKind::Redacted if thinking.is_empty() => {
                    json!({"type": "redacted_thinking", "data": signature.data})
                }
                SignatureKind::Proof | SignatureKind::Redacted | SignatureKind::Next => return None,
            }
        }
        Content::ToolCall(call) => {
            let id = wire_call_id(call.id.as_str());
            extras.call_id = (id != call.id.as_str()).then(|| call.id.to_string());
            extras.malformed.clone_from(&call.malformed);
            json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments})
        }
    };
    Some((block, extras))
}
