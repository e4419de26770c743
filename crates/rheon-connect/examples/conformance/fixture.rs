//! The tools of the fixture.

use std::time::Duration;

use rheon_connect::{McpCaller, McpQuestion, McpRefusal};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::input;

/// One pixel, as a PNG.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

/// Silence, as a WAV.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Between two notifications of one call.
const PAUSE: Duration = Duration::from_millis(50);

/// Tools without arguments, beside the one that asks for input.
const PLAIN: [&str; 14] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_error_handling",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_reconnection",
];

/// Tools that ask for input, without the beginning of their names.
const ASKING: [&str; 8] = [
    "elicitation",
    "sampling",
    "list_roots",
    "request_state",
    "multiple_inputs",
    "multi_round",
    "tampered_state",
    "capabilities",
];

const ASKING_START: &str = "test_input_required_result_";

/// The answer to `tools/list`.
pub(crate) fn tools() -> Vec<Value> {
    let tool = |name: &str, schema: Value| json!({ "name": name, "description": format!("The tool {name}"), "inputSchema": schema });
    let empty = || json!({ "type": "object", "properties": {} });
    let with = |argument: &str| json!({ "type": "object", "properties": { argument: { "type": "string" } }, "required": [argument] });
    let plain = PLAIN.iter().map(|name| tool(name, empty()));
    let asking = ASKING.iter().map(|name| tool(&format!("{ASKING_START}{name}"), empty()));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": {
            "street": { "type": "string" }, "city": { "type": "string" } } } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    let others = [
        tool("test_sampling", with("prompt")),
        tool("test_elicitation", with("message")),
        tool("json_schema_2020_12_tool", schema),
    ];
    plain.chain(asking).chain(others).collect()
}

/// The answer to `prompts/list`.
pub(crate) fn prompts() -> Value {
    let argument = |name: &str| json!({ "name": name, "description": "A test argument", "required": true });
    json!([
        { "name": "test_simple_prompt", "description": "A simple prompt" },
        { "name": "test_prompt_with_arguments", "description": "With arguments", "arguments": [argument("arg1"), argument("arg2")] },
        { "name": "test_prompt_with_embedded_resource", "description": "With a resource", "arguments": [argument("resourceUri")] },
        { "name": "test_prompt_with_image", "description": "With an image" },
        { "name": "test_input_required_result_prompt", "description": "Asks for input" },
    ])
}

/// The answer to `tools/call`.
pub(crate) async fn call(name: &str, arguments: &Value, caller: &McpCaller) -> Result<Value, McpRefusal> {
    if let Some(rest) = name.strip_prefix(ASKING_START) {
        return Ok(said(&input::call(rest, caller).await?));
    }
    let argument = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    match name {
        "test_tool_with_logging" | "test_logging_tool" => {
            for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                caller.notify("notifications/message", json!({ "level": "info", "data": line })).await;
                sleep(PAUSE).await;
            }
            Ok(said("logged"))
        }
        "test_tool_with_progress" => {
            for done in [0.0, 50.0, 100.0] {
                caller.progress(done, Some(100.0), None).await;
                sleep(PAUSE).await;
            }
            Ok(said("done"))
        }
        "test_sampling" | "test_missing_capability" => {
            let answer = input::one(caller, "sampling", input::sampling(argument("prompt"), 100)).await?;
            let text = answer.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
            Ok(said(&format!("LLM response: {text}")))
        }
        "test_elicitation" => asked(caller, argument("message"), &user_schema()).await,
        "test_streaming_elicitation" => asked(caller, "Who are you?", &user_schema()).await,
        "test_elicitation_sep1034_defaults" => asked(caller, "All have defaults", &defaults_schema()).await,
        "test_elicitation_sep1330_enums" => asked(caller, "Choose", &enums_schema()).await,
        _ => content(name),
    }
}

async fn asked(caller: &McpCaller, message: &str, schema: &Value) -> Result<Value, McpRefusal> {
    let answer = input::one(caller, "answer", McpQuestion::form(message, schema)).await?;
    let action = answer.get("action").and_then(Value::as_str).unwrap_or_default();
    let content = answer.get("content").unwrap_or(&Value::Null);
    Ok(said(&format!("User response: action={action}, content={content}")))
}

fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// What tools say that do nothing else.
fn content(name: &str) -> Result<Value, McpRefusal> {
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let resource = |uri: &str, mime: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "text": text } });
    Ok(match name {
        "test_simple_text" | "test_reconnection" | "json_schema_2020_12_tool" => {
            said("This is a simple text response for testing.")
        }
        "test_image_content" => json!({ "content": [image] }),
        "test_audio_content" => {
            json!({ "content": [{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }] })
        }
        "test_embedded_resource" => json!({ "content": [
            resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
        ] }),
        "test_multiple_content_types" => json!({ "content": [
            { "type": "text", "text": "Multiple content types test:" },
            image,
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ] }),
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            json!({ "content": [{ "type": "text", "text": text }], "isError": true })
        }
        _ => return Err(McpRefusal::invalid(format!("there is no tool {name:?}"))),
    })
}

fn user_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    })
}

fn defaults_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "User name", "default": "John Doe" },
            "age": { "type": "integer", "description": "User age", "default": 30 },
            "score": { "type": "number", "description": "User score", "default": 95.5 },
            "status": { "type": "string", "description": "Status", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "description": "Verified", "default": true },
        },
    })
}

fn enums_schema() -> Value {
    let titled = |values: [&str; 3], titles: [&str; 3]| {
        let pairs = values.iter().zip(titles);
        pairs.map(|(value, title)| json!({ "const": value, "title": title })).collect::<Vec<_>>()
    };
    let values = ["value1", "value2", "value3"];
    let options = ["option1", "option2", "option3"];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "description": "One", "enum": options },
            "titledSingle": { "type": "string", "description": "One", "oneOf": titled(values, ["First Option", "Second Option", "Third Option"]) },
            "legacyEnum": { "type": "string", "description": "One", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"] },
            "untitledMulti": { "type": "array", "description": "Many", "minItems": 1, "maxItems": 3, "items": { "type": "string", "enum": options } },
            "titledMulti": { "type": "array", "description": "Many", "minItems": 1, "maxItems": 3, "items": { "anyOf": titled(values, ["First Choice", "Second Choice", "Third Choice"]) } },
        },
    })
}
