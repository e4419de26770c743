//! Rules for the conversation in Bedrock Converse requests.

use serde_json::Value;

use crate::server::refusal::{Refusal, invalid};
use crate::server::wire::check::{has, is_base64, is_word, items, text};

/// The members of a content block; it has exactly one.
const BLOCKS: [&str; 10] = [
    "text",
    "image",
    "document",
    "video",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
    "citationsContent",
];

/// Refuses a conversation that the service refuses.
pub(super) fn check_messages(messages: &[Value]) -> Result<(), Refusal> {
    let Some(first) = messages.first() else {
        return invalid("The messages field is required: a conversation must have at least one message.");
    };
    if text(first, "role") != "user" {
        return invalid(
            "A conversation must start with a user message. Try again with a conversation that starts with a user \
             message.",
        );
    }
    let mut before = "";
    for (position, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        if role != "user" && role != "assistant" {
            return invalid(format!(
                "1 validation error detected: Value '{role}' at 'messages.{}.member.role' failed to satisfy constraint: \
                 Member must satisfy enum value set: [user, assistant]",
                position + 1
            ));
        }
        if role == before {
            return invalid(
                "A conversation must alternate between user and assistant roles. Make sure the conversation alternates \
                 between user and assistant roles and try again.",
            );
        }
        before = role;
        let Some(content) =
            message.get("content").and_then(Value::as_array).filter(|content| !content.is_empty())
        else {
            return invalid(format!(
                "The content field in the Message object at messages.{position} is empty. Add a ContentBlock object to the \
                 content field and try again."
            ));
        };
        for (at, block) in content.iter().enumerate() {
            check_block(&format!("messages.{position}.content.{at}"), block, role)?;
        }
    }
    check_pairs(messages)
}

fn check_block(position: &str, block: &Value, role: &str) -> Result<(), Refusal> {
    let members: Vec<&str> = BLOCKS.into_iter().filter(|key| has(block, key)).collect();
    let [member] = members.as_slice() else {
        return invalid(format!(
            "The ContentBlock object at {position} must set one of the following keys: {BLOCKS:?}."
        ));
    };
    match *member {
        "text" => check_text(position, block),
        "image" => check_image(position, block),
        "toolUse" if role == "assistant" => {
            let call = block.get("toolUse").unwrap_or(&Value::Null);
            check_id(position, text(call, "toolUseId"))?;
            if !is_word(text(call, "name"), 64) {
                return invalid(format!(
                    "1 validation error detected: Value at '{position}.toolUse.name' failed to satisfy constraint: Member \
                     must satisfy regular expression pattern: [a-zA-Z0-9_-]+"
                ));
            }
            if call.get("input").is_some_and(Value::is_object) {
                return Ok(());
            }
            invalid(format!(
                "The format of the value at {position}.toolUse.input is invalid. Provide a json object for the field and try \
                 again."
            ))
        }
        "toolResult" if role == "user" => {
            check_result(position, block.get("toolResult").unwrap_or(&Value::Null))
        }
        "reasoningContent" if role == "assistant" => {
            let thought = block.get("reasoningContent").unwrap_or(&Value::Null);
            if has(thought, "redactedContent") {
                return Ok(());
            }
            let inner = thought.get("reasoningText").unwrap_or(&Value::Null);
            if !has(inner, "text") {
                return invalid(format!(
                    "The reasoningContent at {position} must set reasoningText.text or redactedContent."
                ));
            }
            if text(inner, "signature").is_empty() {
                return invalid(format!(
                    "The model returned the following errors: {position}: Invalid `signature` in `thinking` block"
                ));
            }
            Ok(())
        }
        "toolUse" | "reasoningContent" => invalid(format!(
            "The {member} block at {position} is not allowed in a message of the role {role}."
        )),
        "toolResult" => {
            invalid(format!("The toolResult block at {position} is only allowed in user messages."))
        }
        _ => Ok(()),
    }
}

fn check_text(position: &str, block: &Value) -> Result<(), Refusal> {
    if text(block, "text").trim().is_empty() {
        return invalid(format!(
            "The text field in the ContentBlock object at {position} is blank. Add text to the text field, and try again."
        ));
    }
    Ok(())
}

fn check_image(position: &str, block: &Value) -> Result<(), Refusal> {
    let format = block.pointer("/image/format").and_then(Value::as_str).unwrap_or_default();
    if !["png", "jpeg", "gif", "webp"].contains(&format) {
        return invalid(format!(
            "1 validation error detected: Value '{format}' at '{position}.image.format' failed to satisfy constraint: Member \
             must satisfy enum value set: [png, jpeg, gif, webp]"
        ));
    }
    let bytes = block.pointer("/image/source/bytes").and_then(Value::as_str);
    let is_stored = block.pointer("/image/source/s3Location").is_some();
    if is_stored || bytes.is_some_and(is_base64) {
        return Ok(());
    }
    invalid(format!("The image at {position} has no valid bytes in its source."))
}

fn check_result(position: &str, result: &Value) -> Result<(), Refusal> {
    check_id(position, text(result, "toolUseId"))?;
    if has(result, "status") && !["success", "error"].contains(&text(result, "status")) {
        return invalid(format!(
            "1 validation error detected: Value '{}' at '{position}.toolResult.status' failed to satisfy constraint: Member \
             must satisfy enum value set: [success, error]",
            text(result, "status")
        ));
    }
    let Some(content) = result.get("content").and_then(Value::as_array) else {
        return invalid(format!(
            "1 validation error detected: Value null at '{position}.toolResult.content' failed to satisfy constraint: Member must not be null"
        ));
    };
    for (at, block) in content.iter().enumerate() {
        let here = format!("{position}.toolResult.content.{at}");
        if has(block, "text") {
            check_text(&here, block)?;
        } else if has(block, "image") {
            check_image(&here, block)?;
        } else if !["json", "document", "video", "searchResult"].iter().any(|key| has(block, key)) {
            return invalid(format!("The ToolResultContentBlock object at {here} must set one of its keys."));
        }
    }
    Ok(())
}

fn check_id(position: &str, id: &str) -> Result<(), Refusal> {
    if is_word(id, 64) {
        return Ok(());
    }
    invalid(format!(
        "1 validation error detected: Value '{id}' at '{position}.toolUseId' failed to satisfy constraint: Member must satisfy \
         regular expression pattern: [a-zA-Z0-9_-]+"
    ))
}

fn ids<'a>(message: &'a Value, key: &'static str) -> Vec<&'a str> {
    items(message, "content")
        .iter()
        .filter_map(|block| block.get(key))
        .map(|block| text(block, "toolUseId"))
        .collect()
}

fn check_pairs(messages: &[Value]) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        let results = ids(message, "toolResult");
        let missing: Vec<&str> = open.iter().copied().filter(|id| !results.contains(id)).collect();
        if !missing.is_empty() {
            return expected(position, &missing);
        }
        if results.len() > open.len() {
            return invalid(format!(
                "The number of toolResult blocks at messages.{position}.content exceeds the number of toolUse blocks of \
                 previous turn."
            ));
        }
        open = ids(message, "toolUse");
        let mut sorted = open.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < open.len() {
            return invalid(format!(
                "The toolUse blocks at messages.{position}.content contain duplicate Ids."
            ));
        }
    }
    if open.is_empty() { Ok(()) } else { expected(messages.len(), &open) }
}

fn expected(position: usize, ids: &[&str]) -> Result<(), Refusal> {
    invalid(format!(
        "Expected toolResult blocks at messages.{position}.content for the following Ids: {}",
        ids.join(", ")
    ))
}
