//! Rules for Anthropic Messages requests.

use rheon_providers::wire::WireKind;
use serde_json::Value;

use super::messages::{check_messages, check_thinking_blocks};
use crate::server::incoming::Incoming;
use crate::server::refusal::{Refusal, ServiceError, invalid};
use crate::server::request_info::{Delivery, RequestInfo, RequestedExtras};
use crate::server::wire::check::{
    has, is_word, items, object_schema_problem, offered, only_keys, open_object, text,
};

/// The maximum number of cache marks.
const CACHE_MARKS_MAX: usize = 4;
/// The minimum thinking budget.
const THINKING_TOKENS_MIN: u64 = 1_024;
/// The fields of a request.
const FIELDS: [&str; 18] = [
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "stream",
    "metadata",
    "service_tier",
    "output_config",
    "inference_geo",
    "container",
    "cache_control",
];

/// What the request asks for.
pub(in crate::server::wire) fn request_info(incoming: &Incoming<'_>) -> RequestInfo {
    let body = incoming.body;
    let is_stream = body.get("stream") == Some(&Value::Bool(true));
    let last = items(body, "messages").last();
    let result =
        |message: &Value| items(message, "content").iter().any(|block| text(block, "type") == "tool_result");
    RequestInfo {
        wire: WireKind::Anthropic,
        model: text(body, "model").to_owned(),
        delivery: if is_stream { Delivery::Stream } else { Delivery::Whole },
        tools: offered(items(body, "tools"), "/name", &["/input_schema"]),
        ends_with_tool_result: last.is_some_and(result),
        extras: RequestedExtras::default(),
    }
}

/// Refuses what the service refuses.
pub(in crate::server::wire) fn validate(incoming: &Incoming<'_>) -> Result<(), Refusal> {
    let Incoming { headers, body, .. } = incoming;
    // On Vertex, the model is in the path and the version in the body.
    let is_vertex = incoming.path.contains(":");
    if !headers.contains_key("x-api-key") && !headers.contains_key("authorization") {
        return Err(Refusal {
            message: "x-api-key header is required".into(),
            ..Refusal::of(ServiceError::Authentication, WireKind::Anthropic)
        });
    }
    if is_vertex {
        if !has(body, "anthropic_version") {
            return invalid("anthropic_version: Field required");
        }
    } else {
        if !headers.contains_key("anthropic-version") {
            return invalid("anthropic-version: header is required");
        }
        // A beta may add fields.
        if !headers.contains_key("anthropic-beta") {
            only_keys(body, &FIELDS, |key| format!("{key}: Extra inputs are not permitted"))?;
        }
        if text(body, "model").is_empty() {
            return invalid("model: Field required");
        }
    }
    let Some(max_tokens) = body.get("max_tokens") else { return invalid("max_tokens: Field required") };
    let Some(max_tokens) = max_tokens.as_u64().filter(|tokens| *tokens >= 1) else {
        return invalid("max_tokens: must be greater than or equal to 1");
    };
    let thinking = check_thinking(incoming, max_tokens)?;
    check_sampling(body, thinking)?;
    check_system(body)?;
    check_tools(body)?;
    check_tool_choice(body, thinking)?;
    check_format(body)?;
    let messages = items(body, "messages");
    check_messages(messages)?;
    if thinking != Thinking::Off {
        check_thinking_blocks(messages, incoming.issued)?;
    }
    check_cache_marks(body)
}

/// Whether the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    Off,
    Enabled,
    Adaptive,
}

fn check_thinking(incoming: &Incoming<'_>, max_tokens: u64) -> Result<Thinking, Refusal> {
    let Some(thinking) = incoming.body.get("thinking").filter(|value| !value.is_null()) else {
        return Ok(Thinking::Off);
    };
    match text(thinking, "type") {
        "disabled" => Ok(Thinking::Off),
        "adaptive" if has(thinking, "budget_tokens") => {
            invalid("thinking.adaptive.budget_tokens: Extra inputs are not permitted")
        }
        "adaptive" => Ok(Thinking::Adaptive),
        "enabled" => {
            let Some(budget) = thinking.get("budget_tokens").and_then(Value::as_u64) else {
                return invalid("thinking.enabled.budget_tokens: Field required");
            };
            let beta = incoming.headers.get("anthropic-beta").and_then(|value| value.to_str().ok());
            let is_interleaved = beta.is_some_and(|beta| beta.contains("interleaved-thinking"));
            if budget < THINKING_TOKENS_MIN {
                invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
            } else if budget >= max_tokens && !is_interleaved {
                invalid("`max_tokens` must be greater than `thinking.budget_tokens`")
            } else {
                Ok(Thinking::Enabled)
            }
        }
        other => invalid(format!(
            "thinking: Input tag '{other}' found using 'type' does not match any of the expected tags: 'adaptive', \
             'disabled', 'enabled'"
        )),
    }
}

fn check_sampling(body: &Value, thinking: Thinking) -> Result<(), Refusal> {
    let number = |key: &str| body.get(key).filter(|value| !value.is_null());
    if let Some(temperature) = number("temperature") {
        if !temperature.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)) {
            return invalid("temperature: range: 0..1");
        }
        if thinking != Thinking::Off && temperature.as_f64() != Some(1.0) {
            return invalid(
                "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
            );
        }
    }
    if thinking != Thinking::Off && number("top_k").is_some() {
        return invalid("`top_k` must be unset when thinking is enabled or in adaptive mode.");
    }
    for (position, word) in items(body, "stop_sequences").iter().enumerate() {
        if word.as_str().is_none_or(|word| word.trim().is_empty()) {
            return invalid(format!(
                "stop_sequences.{position}: each stop sequence must contain non-whitespace"
            ));
        }
    }
    if body.get("stream").is_some_and(|stream| !stream.is_boolean()) {
        return invalid("stream: Input should be a valid boolean");
    }
    Ok(())
}

fn check_system(body: &Value) -> Result<(), Refusal> {
    match body.get("system") {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(blocks)) => {
            for (position, block) in blocks.iter().enumerate() {
                if text(block, "type") != "text" {
                    return invalid(format!("system.{position}.type: Input should be 'text'"));
                }
                if text(block, "text").is_empty() {
                    return invalid("system: text content blocks must be non-empty");
                }
            }
            Ok(())
        }
        Some(_) => invalid("system: Input should be a valid array"),
    }
}

fn check_tools(body: &Value) -> Result<(), Refusal> {
    if body.get("tools").is_some_and(|tools| !tools.is_array()) {
        return invalid("tools: Input should be a valid array");
    }
    let mut names = Vec::new();
    for (position, tool) in items(body, "tools").iter().enumerate() {
        let kind = text(tool, "type");
        let name = text(tool, "name");
        if names.contains(&name) {
            return invalid("tools: Tool names must be unique.");
        }
        names.push(name);
        // The service's own tools have no schema.
        if !kind.is_empty() && kind != "custom" {
            continue;
        }
        if !is_word(name, 128) {
            return invalid(format!(
                "tools.{position}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            ));
        }
        let Some(schema) = tool.get("input_schema") else {
            return invalid(format!("tools.{position}.custom.input_schema: Field required"));
        };
        if text(schema, "type") != "object" {
            return invalid(format!("tools.{position}.custom.input_schema.type: Input should be 'object'"));
        }
        if ["oneOf", "allOf", "anyOf"].iter().any(|key| has(schema, key)) {
            return invalid(format!(
                "tools.{position}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top \
                 level"
            ));
        }
        if let Some(problem) = object_schema_problem(schema) {
            return invalid(format!(
                "tools.{position}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12: \
                 {problem}"
            ));
        }
    }
    Ok(())
}

fn check_tool_choice(body: &Value, thinking: Thinking) -> Result<(), Refusal> {
    let Some(choice) = body.get("tool_choice").filter(|choice| !choice.is_null()) else { return Ok(()) };
    let tools = items(body, "tools");
    if tools.is_empty() {
        return invalid("tool_choice: tool_choice may only be specified while providing tools");
    }
    match text(choice, "type") {
        "auto" | "none" => Ok(()),
        "any" | "tool" if thinking == Thinking::Enabled => {
            invalid("Thinking may not be enabled when tool_choice forces tool use.")
        }
        "any" => Ok(()),
        "tool" => {
            let name = text(choice, "name");
            if name.is_empty() {
                return invalid("tool_choice.tool.name: Field required");
            }
            if tools.iter().any(|tool| text(tool, "name") == name) {
                return Ok(());
            }
            invalid(format!("tool_choice.tool.name: Tool '{name}' not found in provided tools"))
        }
        other => invalid(format!(
            "tool_choice: Input tag '{other}' found using 'type' does not match any of the expected tags: 'auto', \
             'any', 'tool', 'none'"
        )),
    }
}

/// Refuses an output schema with an open object.
fn check_format(body: &Value) -> Result<(), Refusal> {
    let Some(schema) = body.pointer("/output_config/format/schema") else { return Ok(()) };
    match open_object(schema, "", 64) {
        Some(position) => invalid(format!(
            "output_config.format.schema{position}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        )),
        None => Ok(()),
    }
}

/// The marks in the order in which the service reads them: tools, system, messages.
fn check_cache_marks(body: &Value) -> Result<(), Refusal> {
    let contents = items(body, "messages").iter().flat_map(|message| items(message, "content"));
    let nested = contents.clone().flat_map(|block| items(block, "content"));
    let blocks = items(body, "tools").iter().chain(items(body, "system")).chain(contents).chain(nested);
    let mut marks = 0;
    let mut seen_short = false;
    for block in blocks {
        let Some(mark) = block.get("cache_control").filter(|mark| !mark.is_null()) else { continue };
        marks += 1;
        if text(mark, "type") != "ephemeral" {
            return invalid("cache_control.type: Input should be 'ephemeral'");
        }
        match mark.get("ttl").and_then(Value::as_str) {
            None | Some("5m") => seen_short = true,
            Some("1h") if seen_short => {
                return invalid(
                    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that \
                     blocks are processed in the following order: `tools`, `system`, `messages`.",
                );
            }
            Some("1h") => {}
            Some(_) => return invalid("cache_control.ephemeral.ttl: Input should be '5m' or '1h'"),
        }
        match text(block, "type") {
            "thinking" | "redacted_thinking" => {
                return invalid("cache_control: cannot be set for thinking blocks");
            }
            "text" if text(block, "text").is_empty() => {
                return invalid("cache_control cannot be set for empty text blocks");
            }
            _ => {}
        }
    }
    if marks > CACHE_MARKS_MAX {
        return invalid(format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}."));
    }
    Ok(())
}
