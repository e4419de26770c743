//! Requests that violate the rules of Bedrock Converse, and some valid ones.

use expect_test::expect;
use rheon_providers::wire::WireKind;
use serde_json::{Value, json};

use crate::support::{hello, verdicts, with};

const WIRE: WireKind = WireKind::Bedrock;

fn request_with(messages: Value) -> Value {
    let tools =
        json!({"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}}]});
    json!({"messages": messages, "toolConfig": tools})
}

fn call(id: &str) -> Value {
    json!({"toolUse": {"toolUseId": id, "name": "read", "input": {}}})
}

fn result(id: &str) -> Value {
    json!({"toolResult": {"toolUseId": id, "content": [{"text": "x"}], "status": "success"}})
}

#[tokio::test]
async fn conversations() {
    let user = json!({"role": "user", "content": [{"text": "hi"}]});
    let calls = json!({"role": "assistant", "content": [call("a"), call("b")]});
    let results = json!({"role": "user", "content": [result("a"), result("b")]});
    let requests = [
        request_with(json!([])),
        request_with(json!([{"role": "assistant", "content": [{"text": "hi"}]}])),
        request_with(json!([user, user])),
        request_with(json!([{"role": "user", "content": []}])),
        request_with(json!([{"role": "user", "content": [{"text": " "}]}])),
        request_with(json!([{"role": "user", "content": [{"type": "text", "text": "x", "image": {}}]}])),
        request_with(json!([user, calls, results])),
        with(&request_with(json!([user, calls, results])), json!({"toolConfig": null})),
        request_with(json!([user, calls])),
        request_with(json!([user, calls, user])),
        request_with(json!([{"role": "user", "content": [result("a")]}])),
        request_with(
            json!([user, {"role": "assistant", "content": [call("a|b")]}, {"role": "user", "content": [result("a|b")]}]),
        ),
        request_with(
            json!([user, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "r", "input": null}}]},
            {"role": "user", "content": [result("a")]}]),
        ),
        request_with(
            json!([user, {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "x"}}}]}, user]),
        ),
        request_with(
            json!([{"role": "user", "content": [{"image": {"format": "bmp", "source": {"bytes": "AAAA"}}}]}]),
        ),
    ];
    expect![[r#"
        400 The messages field is required: a conversation must have at least one message.
        400 A conversation must start with a user message. Try again with a conversation that starts with a user message.
        400 A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.
        400 The content field in the Message object at messages.0 is empty. Add a ContentBlock object to the content field and try again.
        400 The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.
        400 The ContentBlock object at messages.0.content.0 must set one of the following keys: ["text", "image", "document", "video", "toolUse", "toolResult", "guardContent", "cachePoint", "reasoningContent", "citationsContent"].
        ok
        400 The toolConfig field must be defined when using toolUse and toolResult content blocks.
        400 Expected toolResult blocks at messages.2.content for the following Ids: a, b
        400 Expected toolResult blocks at messages.2.content for the following Ids: a, b
        400 The number of toolResult blocks at messages.0.content exceeds the number of toolUse blocks of previous turn.
        400 1 validation error detected: Value 'a|b' at 'messages.1.content.0.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+
        400 The format of the value at messages.1.content.0.toolUse.input is invalid. Provide a json object for the field and try again.
        400 The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block
        400 1 validation error detected: Value 'bmp' at 'messages.0.content.0.image.format' failed to satisfy constraint: Member must satisfy enum value set: [png, jpeg, gif, webp]"#]].assert_eq(&verdicts(WIRE, &requests).await);
}

#[tokio::test]
async fn settings_and_tools() {
    let hello = hello(WIRE);
    let tools = |tools: Value| with(&hello, json!({"toolConfig": tools}));
    let spec = |spec: Value| tools(json!({"tools": [{"toolSpec": spec}]}));
    let schema = json!({"json": {"type": "object"}});
    let thinking = |budget: u64| {
        json!({"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": budget}},
            "inferenceConfig": {"maxTokens": 2000}})
    };
    let point = json!({"cachePoint": {"type": "default"}});
    let requests = [
        with(&hello, json!({"inferenceConfig": {"maxTokens": 0}})),
        with(&hello, json!({"inferenceConfig": {"temperature": 2}})),
        with(&hello, thinking(1000)),
        with(&hello, thinking(2000)),
        with(&hello, thinking(1024)),
        with(&hello, json!({"system": [{"text": ""}]})),
        with(&hello, json!({"system": "text"})),
        tools(json!({"tools": []})),
        spec(json!({"name": "a b", "inputSchema": schema})),
        spec(json!({"name": "a", "description": "", "inputSchema": schema})),
        spec(json!({"name": "a"})),
        spec(json!({"name": "a", "inputSchema": {"json": {"type": "array"}}})),
        tools(
            json!({"tools": [{"toolSpec": {"name": "a", "inputSchema": schema}}], "toolChoice": {"tool": {"name": "b"}}}),
        ),
        tools(json!({"tools": [{"toolSpec": {"name": "a", "inputSchema": schema}}], "toolChoice": "auto"})),
        tools(
            json!({"tools": [{"toolSpec": {"name": "a", "inputSchema": schema}}, point], "toolChoice": {"any": {}}}),
        ),
        with(&hello, json!({"system": [{"text": "x"}, point, point, point, point]})),
        with(&hello, json!({"system": [{"text": "x"}, point, point, point, point, point]})),
    ];
    expect![[r#"
        400 1 validation error detected: Value at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must have value greater than or equal to 1
        400 1 validation error detected: Value at 'inferenceConfig.temperature' failed to satisfy constraint: Member must have value less than or equal to 1
        400 The model returned the following errors: thinking.enabled.budget_tokens: Input should be greater than or equal to 1024
        400 The model returned the following errors: `max_tokens` must be greater than `thinking.budget_tokens`.
        ok
        400 The text field in the SystemContentBlock object at system.0 is blank. Add text to the text field, and try again.
        400 Expected list or null for 'system'
        400 1 validation error detected: Value '[]' at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1
        400 1 validation error detected: Value at 'toolConfig.tools.1.member.toolSpec.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+
        400 1 validation error detected: Value at 'toolConfig.tools.1.member.toolSpec.description' failed to satisfy constraint: Member must have length greater than or equal to 1
        400 1 validation error detected: Value at 'toolConfig.tools.1.member.toolSpec.inputSchema' failed to satisfy constraint: Member must not be null
        400 The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object. schema must be a JSON Schema of 'type: "object"', got 'type: "array"'.
        400 The toolChoice names the tool 'b', which toolConfig.tools does not define.
        400 Invalid value for 'toolConfig.toolChoice': expected exactly one of auto, any, tool.
        ok
        ok
        400 You have reached the maximum limit for cache points. Found 5, maximum allowed is 4."#]].assert_eq(&verdicts(WIRE, &requests).await);
}
