//! Rules for Gemini requests.

use rheon_providers::wire::WireKind;
use serde_json::Value;

use super::contents::check_contents;
use super::schema::openapi_problem;
use crate::server::incoming::Incoming;
use crate::server::refusal::{Refusal, ServiceError, invalid};
use crate::server::request_info::{Delivery, RequestInfo, RequestedExtras};
use crate::server::route::model_in;
use crate::server::wire::check::{
    has, items, object_schema_problem, offered, only_keys, schema_problem, text,
};

/// The fields of a request, with their JSON and protocol buffer names.
const FIELDS: [&str; 15] = [
    "contents",
    "tools",
    "toolConfig",
    "tool_config",
    "safetySettings",
    "safety_settings",
    "systemInstruction",
    "system_instruction",
    "generationConfig",
    "generation_config",
    "cachedContent",
    "cached_content",
    "labels",
    "model",
    "store",
];
/// The fields of `generationConfig`.
const GENERATION_FIELDS: [&str; 24] = [
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "_responseJsonSchema",
    "responseModalities",
    "responseFormat",
    "candidateCount",
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseLogprobs",
    "logprobs",
    "enableEnhancedCivicAnswers",
    "speechConfig",
    "thinkingConfig",
    "imageConfig",
    "mediaResolution",
    "audioTimestamp",
    "routingConfig",
];

/// What the request asks for.
pub(in crate::server::wire) fn request_info(incoming: &Incoming<'_>) -> RequestInfo {
    let body = incoming.body;
    let is_sse = incoming.query.split('&').any(|pair| pair == "alt=sse");
    let delivery = match (incoming.path.ends_with(":streamGenerateContent"), is_sse) {
        (false, _) => Delivery::Whole,
        (true, true) => Delivery::Stream,
        (true, false) => Delivery::ArrayStream,
    };
    let result = |content: &Value| items(content, "parts").iter().any(|part| has(part, "functionResponse"));
    RequestInfo {
        wire: WireKind::Gemini,
        model: model_in(incoming.path).unwrap_or_default(),
        delivery,
        tools: offered(declarations(body), "/name", &["/parametersJsonSchema", "/parameters"]),
        ends_with_tool_result: items(body, "contents").last().is_some_and(result),
        extras: RequestedExtras::default(),
    }
}

fn declarations(body: &Value) -> impl Iterator<Item = &Value> {
    let names = ["functionDeclarations", "function_declarations"];
    items(body, "tools").iter().flat_map(move |tool| names.into_iter().flat_map(|name| items(tool, name)))
}

/// Refuses what the service refuses.
pub(in crate::server::wire) fn validate(
    incoming: &Incoming<'_>,
    request_info: &RequestInfo,
) -> Result<(), Refusal> {
    let Incoming { body, headers, query, .. } = incoming;
    let has_key = query.split('&').any(|pair| pair.starts_with("key=") && pair.len() > 4);
    if !has_key && !headers.contains_key("x-goog-api-key") && !headers.contains_key("authorization") {
        return Err(Refusal {
            message: "Method doesn't allow unregistered callers (callers without established identity). Please use API \
                      Key or other form of API consumer identity to call this API."
                .into(),
            ..Refusal::of(ServiceError::Permission, WireKind::Gemini)
        });
    }
    only_keys(body, &FIELDS, |key| unknown(key, ""))?;
    check_system(body)?;
    check_generation(body, &request_info.model)?;
    check_tools(body)?;
    check_contents(items(body, "contents"), request_info.model.starts_with("gemini-3"))
}

fn unknown(key: &str, position: &str) -> String {
    let at = if position.is_empty() { String::new() } else { format!(" at '{position}'") };
    format!("Invalid JSON payload received. Unknown name \"{key}\"{at}: Cannot find field.")
}

fn check_system(body: &Value) -> Result<(), Refusal> {
    let system = body.get("systemInstruction").or_else(|| body.get("system_instruction"));
    let Some(system) = system.filter(|system| !system.is_null()) else { return Ok(()) };
    let parts = items(system, "parts");
    if parts.is_empty() || parts.iter().any(|part| text(part, "text").is_empty()) {
        return invalid(
            "* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.",
        );
    }
    Ok(())
}

fn check_generation(body: &Value, model: &str) -> Result<(), Refusal> {
    let Some(config) = body.get("generationConfig").filter(|config| !config.is_null()) else { return Ok(()) };
    only_keys(config, &GENERATION_FIELDS, |key| unknown(key, "generation_config"))?;
    if has(config, "maxOutputTokens")
        && config.get("maxOutputTokens").and_then(Value::as_u64).is_none_or(|tokens| tokens < 1)
    {
        return invalid("max_output_tokens must be positive.");
    }
    let is_json = text(config, "responseMimeType") == "application/json";
    for key in ["responseSchema", "responseJsonSchema"] {
        let Some(schema) = config.get(key) else { continue };
        if !is_json {
            return invalid(
                "* GenerateContentRequest.generation_config.response_schema: only allowed with response_mime_type of \
                 \"application/json\".",
            );
        }
        let problem = if key == "responseSchema" {
            openapi_problem(schema, "generation_config.response_schema")
        } else {
            schema_problem(schema, "generation_config.response_json_schema", 64)
        };
        if let Some(problem) = problem {
            return invalid(problem);
        }
    }
    match config.get("thinkingConfig") {
        Some(thinking) => check_thinking(thinking, model),
        None => Ok(()),
    }
}

fn check_thinking(thinking: &Value, model: &str) -> Result<(), Refusal> {
    only_keys(thinking, &["includeThoughts", "thinkingBudget", "thinkingLevel"], |key| {
        unknown(key, "generation_config.thinking_config")
    })?;
    if has(thinking, "thinkingBudget") && has(thinking, "thinkingLevel") {
        return invalid("You can only set only one of thinking budget and thinking level.");
    }
    if has(thinking, "thinkingLevel") {
        let level = text(thinking, "thinkingLevel").to_ascii_lowercase();
        if !["minimal", "low", "medium", "high"].contains(&level.as_str()) {
            return invalid(format!(
                "Invalid value at 'generation_config.thinking_config.thinking_level', \"{level}\""
            ));
        }
        if model.starts_with("gemini-2") {
            return invalid("Thinking level is not supported for this model.");
        }
    }
    let Some(budget) = thinking.get("thinkingBudget").filter(|value| !value.is_null()) else { return Ok(()) };
    let Some(budget) = budget.as_i64() else { return invalid("Invalid value at 'thinking_budget'") };
    let (min, max, can_be_off) = if model.starts_with("gemini-2.5-pro") {
        (128, 32_768, false)
    } else if model.starts_with("gemini-2.5-flash-lite") {
        (512, 24_576, true)
    } else {
        (0, 32_768, true)
    };
    if budget == -1 || (budget == 0 && can_be_off) || (min..=max).contains(&budget) {
        return Ok(());
    }
    invalid(format!(
        "The thinking budget {budget} is invalid. Please choose a value between {min} and {max}."
    ))
}

fn check_tools(body: &Value) -> Result<(), Refusal> {
    let mut names = Vec::new();
    for (position, function) in declarations(body).enumerate() {
        let name = text(function, "name");
        let here = format!("tools[0].function_declarations[{position}]");
        if !is_function_name(name) {
            return invalid(format!(
                "* GenerateContentRequest.{here}.name: [FIELD_INVALID] Invalid function name. Must start with a letter \
                 or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or \
                 dashes (-), with a maximum length of 64."
            ));
        }
        if names.contains(&name) {
            return invalid(format!("Duplicate function declaration found: {name}"));
        }
        names.push(name);
        only_keys(
            function,
            &[
                "name",
                "description",
                "parameters",
                "parametersJsonSchema",
                "response",
                "responseJsonSchema",
                "behavior",
            ],
            |key| unknown(key, &here),
        )?;
        if has(function, "parameters") && has(function, "parametersJsonSchema") {
            return invalid(format!("{here}: only one of parameters and parameters_json_schema may be set."));
        }
        let open = function
            .get("parameters")
            .and_then(|schema| openapi_problem(schema, &format!("{here}.parameters")));
        let json = function.get("parametersJsonSchema").and_then(object_schema_problem);
        if let Some(problem) = open.or(json) {
            return invalid(problem);
        }
    }
    check_calling(body, &names)
}

fn check_calling(body: &Value, names: &[&str]) -> Result<(), Refusal> {
    let config = body.get("toolConfig").or_else(|| body.get("tool_config"));
    let Some(config) = config.and_then(|config| config.get("functionCallingConfig")) else { return Ok(()) };
    let mode = text(config, "mode").to_ascii_uppercase();
    if !["", "MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"].contains(&mode.as_str()) {
        return invalid(format!("Invalid value at 'tool_config.function_calling_config.mode', \"{mode}\""));
    }
    if names.is_empty() && mode == "ANY" {
        return invalid("Function calling config is set without function_declarations.");
    }
    let allowed = items(config, "allowedFunctionNames");
    if !allowed.is_empty() && mode != "ANY" && mode != "VALIDATED" {
        return invalid("Allowed function names should be set only when mode is ANY or VALIDATED.");
    }
    match allowed.iter().find(|name| !name.as_str().is_some_and(|name| names.contains(&name))) {
        Some(name) => invalid(format!("allowed_function_names {name} is not in the function declarations.")),
        None => Ok(()),
    }
}

fn is_function_name(name: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.len() <= 64
        && name.bytes().next().is_some_and(is_first)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
}
