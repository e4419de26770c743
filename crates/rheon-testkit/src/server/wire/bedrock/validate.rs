//! Rules for Bedrock Converse requests.

use rheon_providers::wire::WireKind;
use serde_json::Value;

use super::messages::check_messages;
use crate::server::incoming::Incoming;
use crate::server::refusal::{Refusal, ServiceError, invalid};
use crate::server::request_info::{Delivery, RequestInfo, RequestedExtras};
use crate::server::route::model_in;
use crate::server::wire::check::{has, is_word, items, object_schema_problem, offered, open_object, text};

/// The maximum number of cache points.
const CACHE_POINTS_MAX: usize = 4;

/// What the request asks for.
pub(in crate::server::wire) fn request_info(incoming: &Incoming<'_>) -> RequestInfo {
    let result = |message: &Value| items(message, "content").iter().any(|block| has(block, "toolResult"));
    let is_stream = incoming.path.ends_with("-stream");
    RequestInfo {
        wire: WireKind::Bedrock,
        model: model_in(incoming.path).unwrap_or_default(),
        delivery: if is_stream { Delivery::Stream } else { Delivery::Whole },
        tools: offered(tools(incoming.body), "/toolSpec/name", &["/toolSpec/inputSchema/json"]),
        ends_with_tool_result: items(incoming.body, "messages").last().is_some_and(result),
        extras: RequestedExtras::default(),
    }
}

fn tools(body: &Value) -> &[Value] {
    body.get("toolConfig").map(|config| items(config, "tools")).unwrap_or_default()
}

/// Refuses what the service refuses.
pub(in crate::server::wire) fn validate(incoming: &Incoming<'_>) -> Result<(), Refusal> {
    let Incoming { headers, body, .. } = incoming;
    check_authorization(headers.get("authorization").and_then(|value| value.to_str().ok()))?;
    check_inference(body)?;
    check_system(body)?;
    check_tools(body)?;
    check_format(body)?;
    let messages = items(body, "messages");
    check_messages(messages)?;
    let uses_tools = messages
        .iter()
        .flat_map(|message| items(message, "content"))
        .any(|block| has(block, "toolUse") || has(block, "toolResult"));
    if uses_tools && !has(body, "toolConfig") {
        return invalid(
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        );
    }
    check_cache_points(body)
}

fn check_authorization(authorization: Option<&str>) -> Result<(), Refusal> {
    let refused = |message: &str| {
        Err(Refusal {
            message: message.into(),
            ..Refusal::of(ServiceError::Authentication, WireKind::Bedrock)
        })
    };
    match authorization {
        None => refused("Missing Authentication Token"),
        Some(value) if value.starts_with("Bearer ") => Ok(()),
        Some(value) if value.starts_with("AWS4-HMAC-SHA256 ") => {
            let missing =
                ["Credential=", "SignedHeaders=", "Signature="].iter().find(|part| !value.contains(**part));
            match missing {
                Some(part) => refused(&format!(
                    "Authorization header requires '{}' parameter.",
                    part.trim_end_matches('=')
                )),
                None => Ok(()),
            }
        }
        Some(_) => refused("The Authorization header is in neither of the forms that the service knows."),
    }
}

fn check_inference(body: &Value) -> Result<(), Refusal> {
    let config = body.get("inferenceConfig").unwrap_or(&Value::Null);
    let tokens = config.get("maxTokens").filter(|value| !value.is_null());
    if tokens.is_some_and(|tokens| tokens.as_u64().is_none_or(|tokens| tokens < 1)) {
        return invalid(
            "1 validation error detected: Value at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must \
             have value greater than or equal to 1",
        );
    }
    let temperature = config.get("temperature").filter(|value| !value.is_null());
    if temperature.is_some_and(|value| !value.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value))) {
        return invalid(
            "1 validation error detected: Value at 'inferenceConfig.temperature' failed to satisfy constraint: Member \
             must have value less than or equal to 1",
        );
    }
    let Some(thinking) = body.pointer("/additionalModelRequestFields/thinking") else { return Ok(()) };
    if text(thinking, "type") != "enabled" {
        return Ok(());
    }
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64).unwrap_or_default();
    if budget < 1_024 {
        return invalid(
            "The model returned the following errors: thinking.enabled.budget_tokens: Input should be greater than or \
             equal to 1024",
        );
    }
    if tokens.and_then(Value::as_u64).is_some_and(|tokens| budget >= tokens) {
        return invalid(
            "The model returned the following errors: `max_tokens` must be greater than `thinking.budget_tokens`.",
        );
    }
    if temperature.is_some_and(|value| value.as_f64() != Some(1.0)) {
        return invalid(
            "The model returned the following errors: `temperature` may only be set to 1 when thinking is enabled.",
        );
    }
    let choice = body.pointer("/toolConfig/toolChoice");
    if choice.is_some_and(|choice| has(choice, "any") || has(choice, "tool")) {
        return invalid(
            "The model returned the following errors: Thinking may not be enabled when tool_choice forces tool use.",
        );
    }
    Ok(())
}

fn check_system(body: &Value) -> Result<(), Refusal> {
    if body.get("system").is_some_and(|system| !system.is_array()) {
        return invalid("Expected list or null for 'system'");
    }
    for (position, block) in items(body, "system").iter().enumerate() {
        let is_other = has(block, "cachePoint") || has(block, "guardContent");
        if !is_other && text(block, "text").trim().is_empty() {
            return invalid(format!(
                "The text field in the SystemContentBlock object at system.{position} is blank. Add text to the text field, \
                 and try again."
            ));
        }
    }
    Ok(())
}

fn check_tools(body: &Value) -> Result<(), Refusal> {
    let Some(config) = body.get("toolConfig").filter(|config| !config.is_null()) else { return Ok(()) };
    let tools = items(config, "tools");
    if tools.is_empty() {
        return invalid(
            "1 validation error detected: Value '[]' at 'toolConfig.tools' failed to satisfy constraint: Member must have \
             length greater than or equal to 1",
        );
    }
    let mut names = Vec::new();
    for (position, tool) in tools.iter().enumerate() {
        let Some(spec) = tool.get("toolSpec") else {
            if has(tool, "cachePoint") || has(tool, "systemTool") {
                continue;
            }
            return invalid(format!(
                "toolConfig.tools.{position}: expected one of toolSpec, cachePoint, systemTool"
            ));
        };
        let name = text(spec, "name");
        let failed = |field: &str, rule: &str| {
            invalid(format!(
                "1 validation error detected: Value at 'toolConfig.tools.{}.member.toolSpec.{field}' failed to satisfy \
                 constraint: {rule}",
                position + 1
            ))
        };
        if !is_word(name, 64) {
            return failed("name", "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+");
        }
        if names.contains(&name) {
            return invalid(format!("The toolConfig.tools contains duplicate tool name {name}."));
        }
        names.push(name);
        if spec.get("description").is_some_and(|value| value.as_str().is_none_or(str::is_empty)) {
            return failed("description", "Member must have length greater than or equal to 1");
        }
        let Some(schema) = spec.pointer("/inputSchema/json") else {
            return failed("inputSchema", "Member must not be null");
        };
        if let Some(problem) = object_schema_problem(schema) {
            return invalid(format!(
                "The value at toolConfig.tools.{position}.toolSpec.inputSchema.json.type must be one of the following: \
                 object. {problem}"
            ));
        }
    }
    check_tool_choice(config, &names)
}

/// Refuses an output schema that is not JSON or has an open object.
fn check_format(body: &Value) -> Result<(), Refusal> {
    let Some(format) = body.pointer("/outputConfig/textFormat") else { return Ok(()) };
    let schema = format.pointer("/structure/jsonSchema/schema").and_then(Value::as_str).unwrap_or_default();
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return invalid(
            "The value at outputConfig.textFormat.structure.jsonSchema.schema is not valid JSON.",
        );
    };
    match open_object(&schema, "", 64) {
        Some(position) => invalid(format!(
            "The model returned the following errors: output_config.format.schema{position}: For 'object' type, \
             'additionalProperties' must be explicitly set to false"
        )),
        None => Ok(()),
    }
}

fn check_tool_choice(config: &Value, names: &[&str]) -> Result<(), Refusal> {
    let Some(choice) = config.get("toolChoice").filter(|choice| !choice.is_null()) else { return Ok(()) };
    let keys: Vec<&str> =
        choice.as_object().map(|keys| keys.keys().map(String::as_str).collect()).unwrap_or_default();
    match keys.as_slice() {
        ["auto" | "any"] => Ok(()),
        ["tool"] => {
            let name = choice.pointer("/tool/name").and_then(Value::as_str).unwrap_or_default();
            if names.contains(&name) {
                return Ok(());
            }
            invalid(format!(
                "The toolChoice names the tool '{name}', which toolConfig.tools does not define."
            ))
        }
        _ => invalid("Invalid value for 'toolConfig.toolChoice': expected exactly one of auto, any, tool."),
    }
}

fn check_cache_points(body: &Value) -> Result<(), Refusal> {
    let contents = items(body, "messages").iter().flat_map(|message| items(message, "content"));
    let blocks = tools(body).iter().chain(items(body, "system")).chain(contents);
    let mut points = 0;
    for point in blocks.filter_map(|block| block.get("cachePoint")) {
        points += 1;
        if text(point, "type") != "default" {
            return invalid(
                "Value at 'cachePoint.type' failed to satisfy constraint: Member must satisfy enum value set: [default]",
            );
        }
    }
    if points > CACHE_POINTS_MAX {
        return invalid(format!(
            "You have reached the maximum limit for cache points. Found {points}, maximum allowed is 4."
        ));
    }
    Ok(())
}
