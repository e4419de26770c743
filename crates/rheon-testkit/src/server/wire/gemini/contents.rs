//! Rules for the conversation in Gemini requests.

use serde_json::Value;

use crate::server::refusal::{Refusal, invalid};
use crate::server::wire::check::{has, is_base64, items, only_keys, text};

/// The fields of a part that hold its content.
const DATA: [&str; 7] = [
    "text",
    "inlineData",
    "functionCall",
    "functionResponse",
    "fileData",
    "executableCode",
    "codeExecutionResult",
];
/// All fields of a part.
const FIELDS: [&str; 12] = [
    "text",
    "inlineData",
    "functionCall",
    "functionResponse",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "thought",
    "thoughtSignature",
    "videoMetadata",
    "partMetadata",
    "mediaResolution",
];

/// Refuses a conversation that the service refuses.
pub(super) fn check_contents(contents: &[Value], needs_signatures: bool) -> Result<(), Refusal> {
    if contents.is_empty() {
        return invalid("* GenerateContentRequest.contents: contents is not specified");
    }
    for (position, content) in contents.iter().enumerate() {
        let role = text(content, "role");
        let is_alone = role.is_empty() && contents.len() == 1;
        if !is_alone && !["user", "model", "function"].contains(&role) {
            return invalid("Please use a valid role: user, model.");
        }
        let parts = items(content, "parts");
        if parts.is_empty() {
            return invalid(format!(
                "* GenerateContentRequest.contents[{position}].parts: contents.parts must not be empty."
            ));
        }
        for (at, part) in parts.iter().enumerate() {
            check_part(&format!("contents[{position}].parts[{at}]"), part, role)?;
        }
    }
    check_pairs(contents)?;
    if needs_signatures { check_signatures(contents) } else { Ok(()) }
}

fn check_part(position: &str, part: &Value, role: &str) -> Result<(), Refusal> {
    only_keys(part, &FIELDS, |key| {
        format!("Invalid JSON payload received. Unknown name \"{key}\" at '{position}': Cannot find field.")
    })?;
    let count = DATA.iter().filter(|key| part.get(key).is_some()).count();
    if count != 1 {
        return invalid(format!(
            "* GenerateContentRequest.{position}.data: required oneof field 'data' must have one initialized field"
        ));
    }
    if part.get("text").is_some() && text(part, "text").is_empty() && !has(part, "thoughtSignature") {
        return invalid("Unable to submit request because it must have a text parameter.");
    }
    if has(part, "thoughtSignature") && !is_signature(text(part, "thoughtSignature")) {
        return invalid(format!(
            "Invalid value at '{position}.thought_signature' (TYPE_BYTES), Base64 decoding failed"
        ));
    }
    if let Some(call) = part.get("functionCall") {
        if role != "model" {
            return invalid("Please ensure that function call turn has role model.");
        }
        if text(call, "name").is_empty() {
            return invalid(format!(
                "* GenerateContentRequest.{position}.function_call.name: Name cannot be empty."
            ));
        }
        if has(call, "args") && !call.get("args").is_some_and(Value::is_object) {
            return invalid(format!(
                "Invalid value at '{position}.function_call.args' (type.googleapis.com/google.protobuf.Struct)"
            ));
        }
    }
    if let Some(response) = part.get("functionResponse") {
        if text(response, "name").is_empty() {
            return invalid(format!(
                "* GenerateContentRequest.{position}.function_response.name: Name cannot be empty."
            ));
        }
        if !response.get("response").is_some_and(Value::is_object) {
            return invalid(format!(
                "Invalid value at '{position}.function_response.response' (type.googleapis.com/google.protobuf.Struct)"
            ));
        }
    }
    match part.get("inlineData") {
        Some(data) if text(data, "mimeType").is_empty() => invalid(format!(
            "* GenerateContentRequest.{position}.inline_data.mime_type: mime type is required."
        )),
        Some(data) if !is_base64(text(data, "data")) => invalid(format!(
            "Invalid value at '{position}.inline_data.data' (TYPE_BYTES), Base64 decoding failed"
        )),
        _ => Ok(()),
    }
}

/// Signatures are bytes; the service accepts both base64 alphabets, with or without padding.
fn is_signature(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte))
}

fn named<'a>(content: &'a Value, key: &'static str) -> Vec<&'a str> {
    items(content, "parts").iter().filter_map(|part| part.get(key)).map(|call| text(call, "name")).collect()
}

fn check_pairs(contents: &[Value]) -> Result<(), Refusal> {
    let mut before: Option<&Value> = None;
    for content in contents {
        let open = before.map(|before| named(before, "functionCall")).unwrap_or_default();
        let responses = named(content, "functionResponse");
        if !responses.is_empty() && open.is_empty() {
            return invalid(
                "Please ensure that function response turn comes immediately after a function call turn.",
            );
        }
        if !open.is_empty() && open.len() != responses.len() {
            return invalid(
                "Please ensure that the number of function response parts is equal to the number of function call parts \
                 of the function call turn.",
            );
        }
        let (mut called, mut answered) = (open, responses);
        called.sort_unstable();
        answered.sort_unstable();
        if called != answered {
            return invalid("Please ensure that function response names match the function call names.");
        }
        let calls = named(content, "functionCall");
        if !calls.is_empty() && before.is_none_or(|before| text(before, "role") == "model") {
            return invalid(
                "Please ensure that function call turn comes immediately after a user turn or after a function response \
                 turn.",
            );
        }
        before = Some(content);
    }
    match before.map(|last| named(last, "functionCall")) {
        Some(open) if !open.is_empty() => invalid(
            "Please ensure that the number of function response parts is equal to the number of function call parts of \
             the function call turn.",
        ),
        _ => Ok(()),
    }
}

/// Gemini 3 requires the signature of the first call in every step of the current turn.
fn check_signatures(contents: &[Value]) -> Result<(), Refusal> {
    let speaks =
        |content: &Value| text(content, "role") == "user" && named(content, "functionResponse").is_empty();
    let begin = contents.iter().rposition(speaks).unwrap_or(0);
    for (position, content) in contents.iter().enumerate().skip(begin) {
        let parts = items(content, "parts");
        let first = parts.iter().enumerate().find(|(_, part)| has(part, "functionCall"));
        if let Some((at, part)) = first.filter(|(_, part)| !has(part, "thoughtSignature")) {
            let name = part.get("functionCall").map(|call| text(call, "name")).unwrap_or_default();
            return invalid(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
                 correctly, and missing thought_signature may lead to degraded model performance. Additional data, \
                 function call `default_api:{name}`, position {}. (contents[{position}].parts[{at}])",
                position + 1
            ));
        }
    }
    Ok(())
}
