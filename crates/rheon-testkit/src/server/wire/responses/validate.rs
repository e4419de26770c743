//! Rules for Responses requests.

use rheon_providers::wire::WireKind;
use serde_json::Value;

use super::input::check_input;
use crate::server::incoming::Incoming;
use crate::server::refusal::{Refusal, invalid};
use crate::server::request_info::{Delivery, RequestInfo, RequestedExtras};
use crate::server::wire::chat::{check_function, check_key, check_output_schema};
use crate::server::wire::check::{has, items, offered, only_keys, text};

/// The minimum output limit.
const OUTPUT_TOKENS_MIN: u64 = 16;
/// The fields of a request.
const FIELDS: [&str; 30] = [
    "background",
    "client_metadata",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];
/// The values of `include`.
const INCLUDES: [&str; 8] = [
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "message.output_text.logprobs",
    "reasoning.encrypted_content",
    "web_search_call.action.sources",
    "web_search_call.results",
];

/// What the request asks for.
pub(in crate::server::wire) fn request_info(incoming: &Incoming<'_>) -> RequestInfo {
    let body = incoming.body;
    let is_stream = body.get("stream") == Some(&Value::Bool(true));
    let functions = items(body, "tools").iter().filter(|tool| text(tool, "type") == "function");
    let last = items(body, "input").last();
    RequestInfo {
        wire: WireKind::Responses,
        model: text(body, "model").to_owned(),
        delivery: if is_stream { Delivery::Stream } else { Delivery::Whole },
        tools: offered(functions, "/name", &["/parameters"]),
        ends_with_tool_result: last.is_some_and(|last| text(last, "type").ends_with("_output")),
        extras: RequestedExtras {
            encrypted_thinking: items(body, "include")
                .iter()
                .any(|item| item == "reasoning.encrypted_content"),
            ..RequestedExtras::default()
        },
    }
}

/// Refuses what the service refuses.
pub(in crate::server::wire) fn validate(incoming: &Incoming<'_>) -> Result<(), Refusal> {
    let body = incoming.body;
    check_key(incoming, WireKind::Responses)?;
    let moved = [
        ("messages", "input"),
        ("max_tokens", "max_output_tokens"),
        ("max_completion_tokens", "max_output_tokens"),
        ("response_format", "text.format"),
        ("reasoning_effort", "reasoning.effort"),
    ];
    for (old, new) in moved {
        if has(body, old) {
            return invalid(format!(
                "Unsupported parameter: '{old}'. In the Responses API, this parameter has moved to '{new}'."
            ));
        }
    }
    only_keys(body, &FIELDS, |key| format!("Unknown parameter: '{key}'."))?;
    // An Azure deployment is named in the path.
    if text(body, "model").is_empty() && !incoming.path.contains("/deployments/") {
        return invalid("Missing required parameter: 'model'.");
    }
    check_fields(body)?;
    check_tools(body)?;
    check_format(body)?;
    check_input(body)
}

fn check_fields(body: &Value) -> Result<(), Refusal> {
    if body.get("instructions").is_some_and(|value| !value.is_string() && !value.is_null()) {
        return invalid("Invalid type for 'instructions': expected a string.");
    }
    if has(body, "max_output_tokens") {
        let tokens = body.get("max_output_tokens").and_then(Value::as_u64).unwrap_or_default();
        if tokens < OUTPUT_TOKENS_MIN {
            return invalid(format!(
                "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got {tokens} \
                 instead."
            ));
        }
    }
    if text(body, "prompt_cache_key").chars().count() > 64 {
        return invalid(
            "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.",
        );
    }
    for (position, item) in items(body, "include").iter().enumerate() {
        if !item.as_str().is_some_and(|item| INCLUDES.contains(&item)) {
            return invalid(format!(
                "Invalid value: {item}. Supported values are: {INCLUDES:?}. (include[{position}])"
            ));
        }
    }
    if let Some(reasoning) = body.get("reasoning").filter(|value| !value.is_null()) {
        only_keys(reasoning, &["effort", "summary", "generate_summary", "context"], |key| {
            format!("Unknown parameter: 'reasoning.{key}'.")
        })?;
        let known = |key: &str, words: &[&str]| !has(reasoning, key) || words.contains(&text(reasoning, key));
        if !known("effort", &["none", "minimal", "low", "medium", "high", "xhigh", "max"]) {
            return invalid(format!("Invalid value: '{}'. (reasoning.effort)", text(reasoning, "effort")));
        }
        if !known("summary", &["auto", "concise", "detailed"]) {
            return invalid(format!(
                "Invalid value: '{}'. Supported values are: 'auto', 'concise', and 'detailed'. (reasoning.summary)",
                text(reasoning, "summary")
            ));
        }
    }
    Ok(())
}

fn check_tools(body: &Value) -> Result<(), Refusal> {
    for (position, tool) in items(body, "tools").iter().enumerate() {
        match text(tool, "type") {
            "" => return invalid(format!("Missing required parameter: 'tools[{position}].type'.")),
            "function" if has(tool, "function") || !has(tool, "name") => {
                return invalid(format!("Missing required parameter: 'tools[{position}].name'."));
            }
            "function" => check_function(&format!("tools[{position}]"), tool)?,
            // The service's own tools.
            _ => {}
        }
    }
    let Some(choice) = body.get("tool_choice").filter(|choice| !choice.is_null()) else { return Ok(()) };
    match choice {
        Value::String(word) if ["none", "auto"].contains(&word.as_str()) => Ok(()),
        Value::String(word) if word == "required" && items(body, "tools").is_empty() => {
            invalid("Tool choice 'required' must be specified with 'tools' parameter.")
        }
        Value::String(word) if word == "required" => Ok(()),
        Value::String(word) => invalid(format!(
            "Invalid value: '{word}'. Supported values are: 'none', 'auto', and 'required'. (tool_choice)"
        )),
        _ if text(choice, "type") == "function" => {
            let name = text(choice, "name");
            if name.is_empty() {
                return invalid("Missing required parameter: 'tool_choice.name'.");
            }
            if items(body, "tools").iter().any(|tool| text(tool, "name") == name) {
                return Ok(());
            }
            invalid(format!("Tool choice '{name}' not found in 'tools' parameter."))
        }
        _ if text(choice, "type").is_empty() => invalid("Missing required parameter: 'tool_choice.type'."),
        _ => Ok(()),
    }
}

fn check_format(body: &Value) -> Result<(), Refusal> {
    let Some(format) = body.pointer("/text/format") else { return Ok(()) };
    match text(format, "type") {
        "text" | "json_object" => Ok(()),
        "json_schema" if has(format, "json_schema") => {
            invalid("Missing required parameter: 'text.format.name'.")
        }
        "json_schema" => check_output_schema("text.format", format),
        other => invalid(format!(
            "Invalid value: '{other}'. Supported values are: 'json_object', 'json_schema', and 'text'. \
             (text.format.type)"
        )),
    }
}
