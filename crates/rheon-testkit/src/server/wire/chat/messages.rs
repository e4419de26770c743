//! Rules for the conversation in Chat Completions requests.
//!
//! Services that follow OpenAI differ in what they tolerate; these are the strictest rules that many of them share.

use serde_json::Value;

use crate::server::refusal::{Refusal, invalid};
use crate::server::rules::ChatIds;
use crate::server::wire::check::{has, is_base64, items, text};

/// Refuses a conversation that the service refuses.
pub(super) fn check_messages(body: &Value, ids: ChatIds) -> Result<(), Refusal> {
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        return invalid("Missing required parameter: 'messages'.");
    };
    if messages.is_empty() {
        return invalid(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        );
    }
    let mut is_opening = true;
    for (position, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        let is_system = role == "system" || role == "developer";
        if is_system && !is_opening {
            return invalid(format!("messages[{position}]: System message must be at the beginning."));
        }
        is_opening = is_opening && is_system;
        check_message(position, role, message, ids)?;
    }
    check_pairs(messages)
}

fn check_message(position: usize, role: &str, message: &Value, ids: ChatIds) -> Result<(), Refusal> {
    match role {
        "system" | "developer" => check_content(position, message, &["text"]),
        "user" => {
            check_content(position, message, &["text", "image_url", "input_audio", "file", "video_url"])
        }
        "assistant" => {
            check_calls(position, message, ids)?;
            if !has(message, "content") && has(message, "tool_calls") {
                return Ok(());
            }
            if text(message, "content").is_empty()
                && has(message, "tool_calls")
                && !message.get("content").is_some_and(Value::is_array)
            {
                return Ok(());
            }
            check_content(position, message, &["text", "refusal"])
        }
        "tool" => {
            if text(message, "tool_call_id").is_empty() {
                return invalid(format!("Missing required parameter: 'messages[{position}].tool_call_id'."));
            }
            match message.get("content") {
                // A tool result may be empty.
                Some(Value::String(_)) => Ok(()),
                _ => check_content(position, message, &["text", "image_url"]),
            }
        }
        other => invalid(format!(
            "Invalid value: '{other}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and \
             'developer'. (messages[{position}].role)"
        )),
    }
}

fn check_content(position: usize, message: &Value, kinds: &[&str]) -> Result<(), Refusal> {
    match message.get("content") {
        Some(Value::String(text)) if text.is_empty() => {
            invalid(format!("Invalid value for 'messages[{position}].content': message must not be empty."))
        }
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) if parts.is_empty() => {
            invalid(format!("Invalid 'messages[{position}].content': empty array."))
        }
        Some(Value::Array(parts)) => {
            for (at, part) in parts.iter().enumerate() {
                let here = format!("messages[{position}].content[{at}]");
                let kind = text(part, "type");
                if !kinds.contains(&kind) {
                    return invalid(format!(
                        "Invalid value: '{kind}'. Supported values are: {kinds:?}. ({here}.type)"
                    ));
                }
                check_part(&here, kind, part)?;
            }
            Ok(())
        }
        None | Some(Value::Null) => invalid(format!(
            "Invalid value for 'content': expected a string, got null. (messages[{position}].content)"
        )),
        Some(_) => invalid(format!(
            "Invalid type for 'messages[{position}].content': expected a string or an array."
        )),
    }
}

fn check_part(position: &str, kind: &str, part: &Value) -> Result<(), Refusal> {
    match kind {
        "text" if text(part, "text").is_empty() => {
            invalid(format!("Invalid '{position}.text': text content must not be empty."))
        }
        "image_url" => {
            let Some(address) = part.pointer("/image_url/url").and_then(Value::as_str) else {
                return invalid(format!("Missing required parameter: '{position}.image_url.url'."));
            };
            let Some(data) = address.strip_prefix("data:") else {
                return if address.starts_with("http") {
                    Ok(())
                } else {
                    invalid(format!("Invalid '{position}.image_url.url': not a URL."))
                };
            };
            let good = data
                .split_once(";base64,")
                .is_some_and(|(kind, data)| kind.starts_with("image/") && is_base64(data));
            if good {
                Ok(())
            } else {
                invalid(format!("Invalid base64 image_url. ({position}.image_url.url)"))
            }
        }
        _ => Ok(()),
    }
}

fn check_calls(position: usize, message: &Value, ids: ChatIds) -> Result<(), Refusal> {
    let Some(calls) = message.get("tool_calls").filter(|calls| !calls.is_null()) else { return Ok(()) };
    let Some(calls) = calls.as_array().filter(|calls| !calls.is_empty()) else {
        return invalid(format!("[] is too short - 'messages.{position}.tool_calls'"));
    };
    for (at, call) in calls.iter().enumerate() {
        let here = format!("messages[{position}].tool_calls[{at}]");
        if text(call, "type") != "function" {
            return invalid(format!("Missing required parameter: '{here}.type'."));
        }
        check_id(&here, text(call, "id"), ids)?;
        if call.pointer("/function/name").and_then(Value::as_str).is_none_or(str::is_empty) {
            return invalid(format!("Missing required parameter: '{here}.function.name'."));
        }
        let Some(arguments) = call.pointer("/function/arguments").and_then(Value::as_str) else {
            return invalid(format!("Invalid type for '{here}.function.arguments': expected a string."));
        };
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
            return invalid(format!(
                "Invalid '{here}.function.arguments': expected a string with a JSON object."
            ));
        }
    }
    Ok(())
}

fn check_id(position: &str, id: &str, ids: ChatIds) -> Result<(), Refusal> {
    let max = match ids {
        ChatIds::Any64 => 64,
        ChatIds::Any40 => 40,
        ChatIds::Alnum9 => {
            if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Ok(());
            }
            return invalid(format!(
                "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9. ({position}.id)"
            ));
        }
    };
    if id.is_empty() {
        return invalid(format!("Missing required parameter: '{position}.id'."));
    }
    if id.chars().count() > max {
        return invalid(format!(
            "Invalid '{position}.id': string too long. Expected a string with maximum length {max}, but got a string with \
             length {} instead.",
            id.chars().count()
        ));
    }
    Ok(())
}

/// Every call has its result before anything else follows; every result has its call.
fn check_pairs(messages: &[Value]) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    let mut answered: Vec<&str> = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        if text(message, "role") == "tool" {
            let id = text(message, "tool_call_id");
            if answered.contains(&id) {
                return invalid(format!(
                    "Duplicate tool result for tool_call_id '{id}'. (messages[{position}])"
                ));
            }
            if !open.contains(&id) {
                return invalid(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                     'tool_calls'.",
                );
            }
            open.retain(|other| *other != id);
            answered.push(id);
            continue;
        }
        refuse_open(&open)?;
        open = items(message, "tool_calls").iter().map(|call| text(call, "id")).collect();
        answered.clear();
        let mut sorted = open.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < open.len() {
            return invalid(format!(
                "Duplicate value for 'tool_call_id' in 'messages[{position}].tool_calls'."
            ));
        }
    }
    refuse_open(&open)
}

fn refuse_open(open: &[&str]) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    invalid(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The \
         following tool_call_ids did not have response messages: {}",
        open.join(", ")
    ))
}
