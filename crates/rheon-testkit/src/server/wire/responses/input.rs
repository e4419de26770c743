//! Rules for the conversation in Responses requests.

use serde_json::Value;

use crate::server::refusal::{Refusal, invalid};
use crate::server::wire::check::{has, is_base64, text};

/// Refuses a conversation that the service refuses.
pub(super) fn check_input(body: &Value) -> Result<(), Refusal> {
    let continues = has(body, "previous_response_id") || has(body, "conversation") || has(body, "prompt");
    let input = match body.get("input") {
        Some(Value::String(text)) if !text.is_empty() || continues => return Ok(()),
        Some(Value::Array(input)) if !input.is_empty() || continues => input,
        Some(Value::String(_) | Value::Array(_)) | None => {
            return invalid(
                "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
            );
        }
        Some(_) => return invalid("Invalid type for 'input': expected a string or an array."),
    };
    let is_kept = body.get("store") != Some(&Value::Bool(false));
    for (position, item) in input.iter().enumerate() {
        check_item(position, item, is_kept)?;
    }
    check_ids(input)?;
    check_reasoning(input)?;
    if continues { Ok(()) } else { check_pairs(input) }
}

fn check_item(position: usize, item: &Value, is_kept: bool) -> Result<(), Refusal> {
    match text(item, "type") {
        "" | "message" => check_message(position, item),
        "function_call" => {
            check_id_prefix(position, item, "fc")?;
            for key in ["call_id", "name"] {
                if text(item, key).is_empty() {
                    return invalid(format!("Missing required parameter: 'input[{position}].{key}'."));
                }
            }
            check_call_id(position, item)?;
            if !item.get("arguments").is_some_and(Value::is_string) {
                return invalid(format!(
                    "Invalid type for 'input[{position}].arguments': expected a string."
                ));
            }
            Ok(())
        }
        "function_call_output" => {
            check_call_id(position, item)?;
            match item.get("output") {
                Some(Value::String(_)) => Ok(()),
                Some(Value::Array(parts)) => parts.iter().enumerate().try_for_each(|(at, part)| {
                    check_part(&format!("input[{position}].output[{at}]"), part, false)
                }),
                _ => invalid(format!("Missing required parameter: 'input[{position}].output'.")),
            }
        }
        "reasoning" => {
            check_id_prefix(position, item, "rs")?;
            if !item.get("summary").is_some_and(Value::is_array) {
                return invalid(format!("Missing required parameter: 'input[{position}].summary'."));
            }
            if !is_kept && text(item, "encrypted_content").is_empty() {
                return invalid(format!(
                    "Item with id '{}' not found. Items are not persisted when `store` is set to false. Try again with \
                     `store` set to true, or remove this item from your input.",
                    text(item, "id")
                ));
            }
            Ok(())
        }
        // Items of the service's own tools and features.
        kind if kind.ends_with("_call") || kind.ends_with("_output") || kind.ends_with("_request") => Ok(()),
        "item_reference" | "compaction" | "mcp_list_tools" | "mcp_approval_response" | "additional_tools" => {
            Ok(())
        }
        other => invalid(format!("Invalid value: '{other}'. (input[{position}].type)")),
    }
}

fn check_call_id(position: usize, item: &Value) -> Result<(), Refusal> {
    let length = text(item, "call_id").chars().count();
    match length {
        0 => invalid(format!("Missing required parameter: 'input[{position}].call_id'.")),
        1..=64 => Ok(()),
        _ => invalid(format!(
            "Invalid 'input[{position}].call_id': string too long. Expected a string with maximum length 64, but got a \
             string with length {length} instead."
        )),
    }
}

fn check_id_prefix(position: usize, item: &Value, prefix: &str) -> Result<(), Refusal> {
    let Some(id) = item.get("id").and_then(Value::as_str) else { return Ok(()) };
    if !id.starts_with(prefix) {
        return invalid(format!(
            "Invalid 'input[{position}].id': '{id}'. Expected an ID that begins with '{prefix}'."
        ));
    }
    if id.chars().count() > 64 {
        return invalid(format!(
            "Invalid 'input[{position}].id': string too long. Expected maximum length 64."
        ));
    }
    Ok(())
}

fn check_message(position: usize, item: &Value) -> Result<(), Refusal> {
    let role = text(item, "role");
    if !["user", "assistant", "system", "developer"].contains(&role) {
        return invalid(format!(
            "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'. \
             (input[{position}].role)"
        ));
    }
    if role == "assistant" {
        check_id_prefix(position, item, "msg")?;
    }
    match item.get("content") {
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) if parts.is_empty() => {
            invalid(format!("Invalid 'input[{position}].content': empty array."))
        }
        Some(Value::Array(parts)) => parts.iter().enumerate().try_for_each(|(at, part)| {
            check_part(&format!("input[{position}].content[{at}]"), part, role == "assistant")
        }),
        _ => invalid(format!("Missing required parameter: 'input[{position}].content'.")),
    }
}

fn check_part(position: &str, part: &Value, is_assistant: bool) -> Result<(), Refusal> {
    let kind = text(part, "type");
    let known: &[&str] = if is_assistant {
        &["output_text", "refusal"]
    } else {
        &["input_text", "input_image", "input_file", "input_audio"]
    };
    if !known.contains(&kind) {
        return invalid(format!(
            "Invalid value: '{kind}'. Supported values are: {known:?}. ({position}.type)"
        ));
    }
    match kind {
        "input_text" | "output_text" if !part.get("text").is_some_and(Value::is_string) => {
            invalid(format!("Missing required parameter: '{position}.text'."))
        }
        "input_image" => {
            let address = text(part, "image_url");
            let inline = address.strip_prefix("data:");
            let is_good = match inline {
                Some(data) => data.split_once(";base64,").is_some_and(|(_, data)| is_base64(data)),
                None => address.starts_with("http") || has(part, "file_id"),
            };
            if is_good {
                Ok(())
            } else {
                invalid(format!("Invalid '{position}.image_url'. Expected a valid URL or base64 data URL."))
            }
        }
        _ => Ok(()),
    }
}

fn check_ids(input: &[Value]) -> Result<(), Refusal> {
    let mut ids: Vec<&str> = input
        .iter()
        .filter(|item| text(item, "type") != "item_reference")
        .filter_map(|item| item.get("id").and_then(Value::as_str))
        .collect();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first()) {
        Some(id) => invalid(format!(
            "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
        )),
        None => Ok(()),
    }
}

/// Reasoning comes before the item that it led to.
fn check_reasoning(input: &[Value]) -> Result<(), Refusal> {
    for (position, item) in input.iter().enumerate() {
        if text(item, "type") != "reasoning" {
            continue;
        }
        let next = input.iter().skip(position + 1).find(|next| text(next, "type") != "reasoning");
        let is_followed = next.is_some_and(|next| match text(next, "type") {
            "" | "message" => text(next, "role") == "assistant",
            kind => kind.ends_with("_call"),
        });
        if !is_followed {
            return invalid(format!(
                "Item '{}' of type 'reasoning' was provided without its required following item.",
                text(item, "id")
            ));
        }
    }
    Ok(())
}

/// Every call has its output somewhere after it; every output has its call somewhere before it.
fn check_pairs(input: &[Value]) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    for item in input {
        let id = text(item, "call_id");
        match text(item, "type") {
            "function_call" => open.push(id),
            "function_call_output" => {
                if !open.contains(&id) {
                    return invalid(format!(
                        "No tool call found for function call output with call_id {id}."
                    ));
                }
                open.retain(|other| *other != id);
            }
            _ => {}
        }
    }
    match open.first() {
        Some(id) => invalid(format!("No tool output found for function call {id}.")),
        None => Ok(()),
    }
}
