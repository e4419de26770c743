//! Rules for Chat Completions requests.

use rheon_providers::wire::WireKind;
use serde_json::Value;

use super::messages::check_messages;
use crate::server::incoming::Incoming;
use crate::server::refusal::{Refusal, ServiceError, invalid};
use crate::server::request_info::{Delivery, RequestInfo, RequestedExtras};
use crate::server::wire::check::{
    has, is_word, items, object_schema_problem, offered, schema_problem, strict_problem, text,
};

/// What the request asks for.
pub(in crate::server::wire) fn request_info(incoming: &Incoming<'_>) -> RequestInfo {
    let body = incoming.body;
    let is_stream = body.get("stream") == Some(&Value::Bool(true));
    RequestInfo {
        wire: WireKind::Chat,
        model: text(body, "model").to_owned(),
        delivery: if is_stream { Delivery::Stream } else { Delivery::Whole },
        tools: offered(items(body, "tools"), "/function/name", &["/function/parameters"]),
        ends_with_tool_result: items(body, "messages")
            .last()
            .is_some_and(|last| text(last, "role") == "tool"),
        extras: RequestedExtras {
            usage: body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)),
            ..RequestedExtras::default()
        },
    }
}

/// Refuses what the service refuses.
pub(in crate::server::wire) fn validate(incoming: &Incoming<'_>) -> Result<(), Refusal> {
    let body = incoming.body;
    check_key(incoming, WireKind::Chat)?;
    if text(body, "model").is_empty() {
        return invalid("you must provide a model parameter");
    }
    let is_stream = body.get("stream") == Some(&Value::Bool(true));
    if has(body, "stream_options") && !is_stream {
        return invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.");
    }
    check_numbers(body)?;
    check_tools(body)?;
    check_tool_choice(body)?;
    check_response_format(body)?;
    check_messages(body, incoming.rules.chat_ids)
}

/// Refuses a request without a key on the Responses wire. The chat wire needs none, because local servers use it.
pub(in crate::server::wire) fn check_key(incoming: &Incoming<'_>, wire: WireKind) -> Result<(), Refusal> {
    let has_key = incoming.headers.contains_key("authorization") || incoming.headers.contains_key("api-key");
    if !has_key && wire == WireKind::Responses {
        return Err(Refusal {
            message: "Missing bearer or basic authentication in header".into(),
            ..Refusal::of(ServiceError::Authentication, wire)
        });
    }
    Ok(())
}

fn check_numbers(body: &Value) -> Result<(), Refusal> {
    if has(body, "max_tokens") && has(body, "max_completion_tokens") {
        return invalid(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        );
    }
    for key in ["max_tokens", "max_completion_tokens"] {
        if has(body, key) && body.get(key).and_then(Value::as_u64).is_none_or(|tokens| tokens < 1) {
            return invalid(format!(
                "Invalid '{key}': integer below minimum value. Expected a value >= 1, but got {} instead.",
                body.get(key).unwrap_or(&Value::Null)
            ));
        }
    }
    let temperature = body.get("temperature").filter(|value| !value.is_null());
    if temperature.is_some_and(|value| !value.as_f64().is_some_and(|value| (0.0..=2.0).contains(&value))) {
        return invalid("Invalid 'temperature': decimal out of range. Expected a value between 0 and 2.");
    }
    let efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "default"];
    if has(body, "reasoning_effort") && !efforts.contains(&text(body, "reasoning_effort")) {
        return invalid(format!(
            "Invalid value: '{}'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', and 'xhigh'.",
            text(body, "reasoning_effort")
        ));
    }
    Ok(())
}

fn check_tools(body: &Value) -> Result<(), Refusal> {
    let Some(tools) = body.get("tools").filter(|tools| !tools.is_null()) else { return Ok(()) };
    let Some(tools) = tools.as_array() else {
        return invalid("Invalid type for 'tools': expected an array.");
    };
    if tools.is_empty() {
        return invalid("[] is too short - 'tools'");
    }
    for (position, tool) in tools.iter().enumerate() {
        if text(tool, "type") != "function" {
            return invalid(format!(
                "Invalid value: '{}'. Supported values are: 'function' and 'custom'. (tools[{position}].type)",
                text(tool, "type")
            ));
        }
        let Some(function) = tool.get("function") else {
            return invalid(format!("Missing required parameter: 'tools[{position}].function'."));
        };
        check_function(&format!("tools[{position}].function"), function)?;
    }
    Ok(())
}

/// Refuses an invalid tool definition; the Responses wire has the same rules.
pub(in crate::server::wire) fn check_function(position: &str, function: &Value) -> Result<(), Refusal> {
    let name = text(function, "name");
    if !is_word(name, 64) {
        return invalid(format!(
            "Invalid '{position}.name': string does not match pattern. Expected a string that matches the pattern \
             '^[a-zA-Z0-9_-]+$' of at most 64 characters."
        ));
    }
    let is_strict = function.get("strict") == Some(&Value::Bool(true));
    let Some(schema) = function.get("parameters").filter(|schema| !schema.is_null()) else { return Ok(()) };
    let problem = object_schema_problem(schema).or_else(|| {
        strict_problem(schema).filter(|_| is_strict).map(|problem| format!("In context=(), {problem}"))
    });
    match problem {
        Some(problem) => invalid(format!("Invalid schema for function '{name}': {problem}")),
        None => Ok(()),
    }
}

fn check_tool_choice(body: &Value) -> Result<(), Refusal> {
    let has_tools = !items(body, "tools").is_empty();
    if has(body, "parallel_tool_calls") && !has_tools {
        return invalid(
            "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
        );
    }
    let Some(choice) = body.get("tool_choice").filter(|choice| !choice.is_null()) else { return Ok(()) };
    if !has_tools {
        return invalid(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        );
    }
    match choice {
        Value::String(word) if ["none", "auto", "required"].contains(&word.as_str()) => Ok(()),
        Value::String(word) => {
            invalid(format!("Invalid value: '{word}'. Supported values are: 'none', 'auto', and 'required'."))
        }
        _ => {
            let name = choice.pointer("/function/name").and_then(Value::as_str);
            let is_offered = |tool: &Value| tool.pointer("/function/name").and_then(Value::as_str) == name;
            if text(choice, "type") != "function" || name.is_none() {
                return invalid("Missing required parameter: 'tool_choice.function.name'.");
            }
            if items(body, "tools").iter().any(is_offered) {
                return Ok(());
            }
            invalid(format!(
                "Invalid value for 'tool_choice': no function named '{}' was specified in the 'tools' parameter.",
                name.unwrap_or_default()
            ))
        }
    }
}

fn check_response_format(body: &Value) -> Result<(), Refusal> {
    let Some(format) = body.get("response_format").filter(|format| !format.is_null()) else { return Ok(()) };
    match text(format, "type") {
        "text" => Ok(()),
        "json_object" => {
            let says_json = items(body, "messages").iter().any(|message| {
                message
                    .get("content")
                    .is_some_and(|content| content.to_string().to_lowercase().contains("json"))
            });
            if says_json {
                return Ok(());
            }
            invalid(
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            )
        }
        "json_schema" => match format.get("json_schema") {
            Some(output) => check_output_schema("response_format.json_schema", output),
            None => invalid("Missing required parameter: 'response_format.json_schema'."),
        },
        other => invalid(format!(
            "Invalid value: '{other}'. Supported values are: 'text', 'json_object', and 'json_schema'."
        )),
    }
}

/// Refuses an invalid output schema; the Responses wire has the same rules.
pub(in crate::server::wire) fn check_output_schema(position: &str, output: &Value) -> Result<(), Refusal> {
    let name = text(output, "name");
    if !is_word(name, 64) {
        return invalid(format!(
            "Invalid '{position}.name': string does not match pattern. Expected a string that matches the pattern \
             '^[a-zA-Z0-9_-]+$' of at most 64 characters."
        ));
    }
    let Some(schema) = output.get("schema") else {
        return invalid(format!("Missing required parameter: '{position}.schema'."));
    };
    let is_strict = output.get("strict") == Some(&Value::Bool(true));
    let problem = if is_strict {
        object_schema_problem(schema).or_else(|| strict_problem(schema))
    } else {
        schema_problem(schema, "", 64)
    };
    match problem {
        Some(problem) => {
            invalid(format!("Invalid schema for response_format '{name}': In context=(), {problem}"))
        }
        None => Ok(()),
    }
}
