//! Rules for the conversation in Anthropic Messages requests.

use serde_json::Value;

use crate::server::issued::IssuedBlocks;
use crate::server::refusal::{Refusal, invalid};
use crate::server::wire::check::{has, is_base64, is_word, items, text};

/// Supported image types.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Refuses a conversation that the service refuses.
pub(super) fn check_messages(messages: &[Value]) -> Result<(), Refusal> {
    let Some(first) = messages.first() else {
        return invalid("messages: at least one message is required");
    };
    if text(first, "role") == "assistant" {
        return invalid("messages: first message must use the \"user\" role");
    }
    let last = messages.len() - 1;
    for (position, message) in messages.iter().enumerate() {
        check_role(position, message)?;
        check_content(position, message, position == last)?;
    }
    check_pairs(messages)
}

fn check_role(position: usize, message: &Value) -> Result<(), Refusal> {
    match text(message, "role") {
        "user" | "assistant" => Ok(()),
        "system" => invalid(
            "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \
             \"system\" as an input message role.",
        ),
        other => {
            invalid(format!("messages.{position}.role: Input should be 'user' or 'assistant', not '{other}'"))
        }
    }
}

fn check_content(position: usize, message: &Value, is_last: bool) -> Result<(), Refusal> {
    let is_assistant = text(message, "role") == "assistant";
    let empty = || {
        invalid(format!(
            "messages.{position}: all messages must have non-empty content except for the optional final assistant message"
        ))
    };
    match message.get("content") {
        Some(Value::String(text)) if text.is_empty() && !(is_last && is_assistant) => empty(),
        Some(Value::String(text)) => check_end(text, is_last && is_assistant),
        Some(Value::Array(blocks)) => {
            if blocks.is_empty() && !(is_last && is_assistant) {
                return empty();
            }
            for (at, block) in blocks.iter().enumerate() {
                check_block(&format!("messages.{position}.content.{at}"), block, is_assistant)?;
            }
            match blocks.last() {
                Some(block) if is_assistant && text(block, "type").ends_with("thinking") => invalid(format!(
                    "messages.{position}: The final block in an assistant message cannot be `thinking`."
                )),
                Some(block) if text(block, "type") == "text" => {
                    check_end(text(block, "text"), is_last && is_assistant)
                }
                _ => Ok(()),
            }
        }
        Some(_) => invalid(format!("messages.{position}.content: Input should be a valid string or array")),
        None => invalid(format!("messages.{position}.content: Field required")),
    }
}

fn check_end(text: &str, is_last_assistant: bool) -> Result<(), Refusal> {
    if is_last_assistant && text.ends_with(char::is_whitespace) {
        return invalid("messages: final assistant content cannot end with trailing whitespace");
    }
    Ok(())
}

fn check_block(position: &str, block: &Value, is_assistant: bool) -> Result<(), Refusal> {
    let kind = text(block, "type");
    match kind {
        "text" => check_text(block),
        "image" if !is_assistant => check_image(position, block),
        "document" | "search_result" | "container_upload" if !is_assistant => Ok(()),
        "tool_result" if !is_assistant => check_result(position, block),
        "tool_use" if is_assistant => check_call(position, block),
        "thinking" if is_assistant => {
            if !block.get("thinking").is_some_and(Value::is_string) {
                return invalid(format!("{position}.thinking.thinking: Field required"));
            }
            match block.get("signature").and_then(Value::as_str) {
                None => invalid(format!("{position}.thinking.signature: Field required")),
                Some("") => invalid(format!("{position}: Invalid `signature` in `thinking` block")),
                Some(_) => Ok(()),
            }
        }
        "redacted_thinking" if is_assistant => {
            if text(block, "data").is_empty() {
                return invalid(format!("{position}.redacted_thinking.data: Field required"));
            }
            Ok(())
        }
        // Blocks of the service's own tools.
        _ if kind.starts_with("server_tool")
            || kind.ends_with("_tool_result")
            || kind.starts_with("mcp_") =>
        {
            Ok(())
        }
        "thinking" | "redacted_thinking" | "tool_use" => {
            invalid(format!("{position}: `{kind}` blocks may only be in `assistant` messages"))
        }
        "tool_result" | "image" | "document" => {
            invalid(format!("{position}: `{kind}` blocks can only be in `user` messages"))
        }
        _ => invalid(format!(
            "{position}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        )),
    }
}

fn check_text(block: &Value) -> Result<(), Refusal> {
    let text = text(block, "text");
    if text.is_empty() {
        return invalid("messages: text content blocks must be non-empty");
    }
    if text.trim().is_empty() {
        return invalid("messages: text content blocks must contain non-whitespace text");
    }
    Ok(())
}

fn check_image(position: &str, block: &Value) -> Result<(), Refusal> {
    let Some(source) = block.get("source") else {
        return invalid(format!("{position}.image.source: Field required"));
    };
    match text(source, "type") {
        "base64" if !IMAGE_TYPES.contains(&text(source, "media_type")) => invalid(format!(
            "{position}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or \
             'image/webp'"
        )),
        "base64" if !is_base64(text(source, "data")) => {
            invalid(format!("{position}.image.source.base64: invalid base64 data"))
        }
        "base64" | "url" | "file" => Ok(()),
        _ => invalid(format!("{position}.image.source: Input tag does not match any of the expected tags")),
    }
}

fn check_result(position: &str, block: &Value) -> Result<(), Refusal> {
    check_id(&format!("{position}.tool_result.tool_use_id"), text(block, "tool_use_id"))?;
    let is_error = block.get("is_error") == Some(&Value::Bool(true));
    let is_empty = match block.get("content") {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(blocks)) => {
            for (at, inner) in blocks.iter().enumerate() {
                match text(inner, "type") {
                    "text" => check_text(inner)?,
                    "image" => check_image(&format!("{position}.tool_result.content.{at}"), inner)?,
                    "document" | "search_result" | "tool_reference" => {}
                    other => {
                        return invalid(format!(
                            "{position}.tool_result.content.{at}: Input tag '{other}' does not match any of the expected \
                             tags: 'document', 'image', 'search_result', 'text', 'tool_reference'"
                        ));
                    }
                }
            }
            blocks.is_empty()
        }
        Some(_) => {
            return invalid(format!(
                "{position}.tool_result.content: Input should be a valid string or array"
            ));
        }
    };
    if is_error && is_empty {
        return invalid(format!("{position}.tool_result: content cannot be empty if `is_error` is true"));
    }
    Ok(())
}

fn check_call(position: &str, block: &Value) -> Result<(), Refusal> {
    check_id(&format!("{position}.tool_use.id"), text(block, "id"))?;
    if !is_word(text(block, "name"), 200) {
        return invalid(format!(
            "{position}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'"
        ));
    }
    if !has(block, "input") {
        return invalid(format!("{position}.tool_use.input: Field required"));
    }
    if !block.get("input").is_some_and(Value::is_object) {
        return invalid(format!("{position}.tool_use.input: Input should be a valid dictionary"));
    }
    Ok(())
}

fn check_id(position: &str, id: &str) -> Result<(), Refusal> {
    if is_word(id, 64) {
        return Ok(());
    }
    invalid(format!("{position}: String should match pattern '^[a-zA-Z0-9_-]+$'"))
}

fn ids<'a>(message: &'a Value, kind: &'static str, key: &'static str) -> Vec<&'a str> {
    let blocks = items(message, "content").iter();
    blocks.filter(|block| text(block, "type") == kind).map(|block| text(block, key)).collect()
}

/// The service merges messages of the same role before it looks for pairs.
fn joined(messages: &[Value]) -> Vec<(usize, Vec<&Value>)> {
    let mut joined: Vec<(usize, Vec<&Value>)> = Vec::new();
    let mut role = "";
    for (position, message) in messages.iter().enumerate() {
        match joined.last_mut().filter(|_| role == text(message, "role")) {
            Some((_, group)) => group.push(message),
            None => joined.push((position, vec![message])),
        }
        role = text(message, "role");
    }
    joined
}

/// Every call has its result at the start of the next message; every result has its call.
fn check_pairs(messages: &[Value]) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    let mut calls_at = 0;
    let mut all: Vec<&str> = Vec::new();
    for (position, group) in joined(messages) {
        let results: Vec<&str> =
            group.iter().flat_map(|message| ids(message, "tool_result", "tool_use_id")).collect();
        if let Some(id) = results.iter().find(|id| !open.contains(id)) {
            return invalid(format!(
                "messages.{position}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
                 block must have a corresponding `tool_use` block in the previous message."
            ));
        }
        let is_first = group.first().is_some_and(|message| {
            items(message, "content")
                .iter()
                .take(open.len())
                .all(|block| text(block, "type") == "tool_result")
        });
        let missing: Vec<&str> = open.iter().copied().filter(|id| !results.contains(id)).collect();
        if !missing.is_empty() || (!open.is_empty() && !is_first) {
            let ids = if missing.is_empty() { open.join(", ") } else { missing.join(", ") };
            return without_results(calls_at, &ids);
        }
        if results.len() > open.len() {
            return invalid(format!(
                "messages.{position}: each tool_use must have a single result. Found multiple `tool_result` blocks"
            ));
        }
        open = group.iter().flat_map(|message| ids(message, "tool_use", "id")).collect();
        calls_at = position;
        for id in &open {
            if all.contains(id) {
                return invalid(format!("messages.{position}: `tool_use` ids must be unique"));
            }
            all.push(id);
        }
    }
    if open.is_empty() { Ok(()) } else { without_results(calls_at, &open.join(", ")) }
}

fn without_results(position: usize, ids: &str) -> Result<(), Refusal> {
    invalid(format!(
        "messages.{position}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message."
    ))
}

/// Thinking that the service sent with a call must come back unchanged. A turn that started without thinking, for
/// instance with another model, continues without.
pub(super) fn check_thinking_blocks(messages: &[Value], issued: &IssuedBlocks) -> Result<(), Refusal> {
    for (position, message) in messages.iter().enumerate() {
        let blocks = items(message, "content");
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| text(block, "type") == "thinking") {
            if issued.is_changed(text(block, "thinking"), text(block, "signature")) {
                return invalid(format!(
                    "messages.{position}.content.{at}: `thinking` or `redacted_thinking` blocks in the latest assistant \
                     message cannot be modified. These blocks must remain as they were in the original response."
                ));
            }
        }
    }
    let speaks = |message: &Value| {
        text(message, "role") == "user" && ids(message, "tool_result", "tool_use_id").is_empty()
    };
    let turn = messages.iter().rposition(speaks).unwrap_or(0);
    for (position, message) in messages.iter().enumerate().skip(turn) {
        let had_thought = ids(message, "tool_use", "id").into_iter().any(|id| issued.followed_thinking(id));
        let first = items(message, "content").first().map_or("text", |block| text(block, "type"));
        if had_thought && !first.ends_with("thinking") {
            return invalid(format!(
                "messages.{position}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. When \
                 `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the \
                 lastmost set of `tool_use` and `tool_result` blocks)."
            ));
        }
    }
    Ok(())
}
