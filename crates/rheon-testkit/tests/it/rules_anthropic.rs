//! Requests that violate the rules of Anthropic Messages, and some valid ones.

use expect_test::expect;
use rheon_providers::wire::WireKind;
use rheon_testkit::server::{FakeReply, FakeServer, Script};
use serde_json::{Value, json};

use crate::support::{ask, hello, verdicts, with};

const WIRE: WireKind = WireKind::Anthropic;

fn request_with(messages: Value) -> Value {
    with(&hello(WIRE), json!({"messages": messages}))
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
}

#[tokio::test]
async fn limits_and_settings() {
    let hello = hello(WIRE);
    let requests = [
        with(&hello, json!({"max_tokens": null})),
        with(&hello, json!({"max_tokens": 0})),
        with(&hello, json!({"model": null})),
        with(&hello, json!({"reasoning_effort": "low"})),
        with(&hello, json!({"temperature": 1.5})),
        with(&hello, json!({"thinking": {"type": "enabled", "budget_tokens": 1023}})),
        with(&hello, json!({"thinking": {"type": "enabled", "budget_tokens": 4096}})),
        with(&hello, json!({"thinking": {"type": "enabled", "budget_tokens": 4095}})),
        with(&hello, json!({"thinking": {"type": "enabled", "budget_tokens": 2000}, "temperature": 0.5})),
        with(&hello, json!({"thinking": {"type": "adaptive"}})),
        with(&hello, json!({"thinking": {"type": "on"}})),
        with(&hello, json!({"system": [{"type": "text", "text": ""}]})),
        with(&hello, json!({"system": "You are."})),
    ];
    expect![[r#"
        400 max_tokens: Field required
        400 max_tokens: must be greater than or equal to 1
        400 model: Field required
        400 reasoning_effort: Extra inputs are not permitted
        400 temperature: range: 0..1
        400 thinking.enabled.budget_tokens: Input should be greater than or equal to 1024
        400 `max_tokens` must be greater than `thinking.budget_tokens`
        ok
        400 `temperature` may only be set to 1 when thinking is enabled or in adaptive mode.
        ok
        400 thinking: Input tag 'on' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'
        400 system: text content blocks must be non-empty
        ok"#]].assert_eq(&verdicts(WIRE, &requests).await);
}

#[tokio::test]
async fn conversations() {
    let user = json!({"role": "user", "content": "hi"});
    let calls = json!({"role": "assistant", "content": [call("a"), call("b")]});
    let results = json!({"role": "user", "content": [result("a"), result("b")]});
    let requests = [
        request_with(json!([])),
        request_with(json!([{"role": "assistant", "content": "hi"}])),
        request_with(json!([{"role": "system", "content": "hi"}])),
        request_with(json!([{"role": "tool", "content": "hi"}])),
        request_with(json!([user, user])),
        request_with(json!([{"role": "user", "content": ""}])),
        request_with(json!([{"role": "user", "content": [{"type": "text", "text": ""}]}])),
        request_with(json!([{"role": "user", "content": [{"type": "text", "text": " \n"}]}])),
        request_with(json!([user, {"role": "assistant", "content": "ends "}])),
        request_with(json!([user, calls, results])),
        request_with(
            json!([user, calls, {"role": "user", "content": [result("a")]}, {"role": "user", "content": [result("b")]}]),
        ),
        request_with(json!([user, calls])),
        request_with(json!([user, calls, user])),
        request_with(json!([user, calls, {"role": "user", "content": [result("a")]}])),
        request_with(
            json!([user, calls, {"role": "user", "content": [{"type": "text", "text": "x"}, result("a"), result("b")]}]),
        ),
        request_with(json!([user, {"role": "user", "content": [result("a")]}])),
        request_with(
            json!([user, {"role": "assistant", "content": [call("a.1")]}, {"role": "user", "content": [result("a.1")]}]),
        ),
        request_with(
            json!([user, {"role": "assistant", "content": [call("a"), call("a")]}, {"role": "user", "content": [result("a")]}]),
        ),
        request_with(
            json!([user, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "r", "input": null}]},
            {"role": "user", "content": [result("a")]}]),
        ),
        request_with(json!([user, {"role": "assistant", "content": [call("a")]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": ""}]}])),
        request_with(json!([{"role": "user", "content": [{"type": "image", "source":
            {"type": "base64", "media_type": "image/bmp", "data": "AAAA"}}]}])),
        request_with(json!([{"role": "user", "content": [{"type": "image", "source":
            {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]}])),
    ];
    expect![[r#"
        400 messages: at least one message is required
        400 messages: first message must use the "user" role
        400 messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.
        400 messages.0.role: Input should be 'user' or 'assistant', not 'tool'
        ok
        400 messages.0: all messages must have non-empty content except for the optional final assistant message
        400 messages: text content blocks must be non-empty
        400 messages: text content blocks must contain non-whitespace text
        400 messages: final assistant content cannot end with trailing whitespace
        ok
        ok
        400 messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.
        400 messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.
        400 messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.
        400 messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.
        400 messages.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.
        400 messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'
        400 messages.1: `tool_use` ids must be unique
        400 messages.1.content.0.tool_use.input: Field required
        400 messages.2.content.0.tool_result: content cannot be empty if `is_error` is true
        400 messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'
        ok"#]].assert_eq(&verdicts(WIRE, &requests).await);
}

#[tokio::test]
async fn thinking_sent_back() {
    let thought = |signature: Value| json!({"type": "thinking", "thinking": "hm", "signature": signature});
    let turn = |blocks: Value| {
        with(
            &request_with(
                json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": blocks},
                {"role": "user", "content": [result("a")]}]),
            ),
            json!({"thinking": {"type": "enabled", "budget_tokens": 2000}}),
        )
    };
    let requests = [
        turn(json!([thought(json!("sig")), call("a")])),
        turn(json!([{"type": "redacted_thinking", "data": "xx"}, call("a")])),
        turn(json!([call("a")])),
        turn(json!([thought(json!("")), call("a")])),
        turn(json!([thought(Value::Null), call("a")])),
        turn(json!([call("a"), thought(json!("sig"))])),
    ];
    expect![[r#"
        ok
        ok
        ok
        400 messages.1.content.0: Invalid `signature` in `thinking` block
        400 messages.1.content.0.thinking.signature: Field required
        400 messages.1: The final block in an assistant message cannot be `thinking`."#]]
    .assert_eq(&verdicts(WIRE, &requests).await);
}

#[tokio::test]
async fn tools_and_marks() {
    let tool = |name: &str| json!({"name": name, "description": "d", "input_schema": {"type": "object"}});
    let tools = |tools: Value, more: Value| with(&with(&hello(WIRE), json!({"tools": tools})), more);
    let marked =
        |ttl: &str| json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}});
    let requests = [
        tools(json!([tool("a b")]), json!({})),
        tools(json!([tool("a"), tool("a")]), json!({})),
        tools(json!([{"name": "a"}]), json!({})),
        tools(json!([{"name": "a", "input_schema": {"type": "string"}}]), json!({})),
        tools(json!([{"name": "a", "input_schema": {"type": "object", "anyOf": [{}]}}]), json!({})),
        tools(
            json!([{"name": "a", "input_schema": {"type": "object", "properties": {"x": {"type": "text"}}}}]),
            json!({}),
        ),
        tools(json!([tool("a")]), json!({"tool_choice": {"type": "tool", "name": "b"}})),
        tools(json!([tool("a")]), json!({"tool_choice": "auto"})),
        tools(
            json!([tool("a")]),
            json!({"tool_choice": {"type": "any"},
            "thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ),
        tools(json!([tool("a")]), json!({"tool_choice": {"type": "any"}})),
        with(&hello(WIRE), json!({"tool_choice": {"type": "auto"}})),
        with(&hello(WIRE), json!({"system": [marked("5m"), marked("5m"), marked("5m"), marked("5m")]})),
        with(
            &hello(WIRE),
            json!({"system": [marked("5m"), marked("5m"), marked("5m"), marked("5m"), marked("5m")]}),
        ),
        with(&hello(WIRE), json!({"system": [marked("5m"), marked("1h")]})),
        with(&hello(WIRE), json!({"system": [marked("1h"), marked("5m")]})),
        with(&hello(WIRE), json!({"system": [marked("2h")]})),
    ];
    expect![[r#"
        400 tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'
        400 tools: Tool names must be unique.
        400 tools.0.custom.input_schema: Field required
        400 tools.0.custom.input_schema.type: Input should be 'object'
        400 tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level
        400 tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12: "text" at '/properties/x' is not a type
        400 tool_choice.tool.name: Tool 'b' not found in provided tools
        400 tool_choice: Input tag '' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'
        400 Thinking may not be enabled when tool_choice forces tool use.
        ok
        400 tool_choice: tool_choice may only be specified while providing tools
        ok
        400 A maximum of 4 blocks with cache_control may be provided. Found 5.
        400 a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.
        ok
        400 cache_control.ephemeral.ttl: Input should be '5m' or '1h'"#]].assert_eq(&verdicts(WIRE, &requests).await);
}

#[tokio::test]
async fn thinking_sent_with_a_call_comes_back_unchanged() {
    let reply = FakeReply::thinking("hm", "sig").and_call("read", &json!({}));
    let server = FakeServer::start(Script::new([reply])).await.unwrap();
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    assert_eq!(ask(&server, WIRE, &with(&hello(WIRE), thinking.clone())).await.0, 200);
    let mut statuses = Vec::new();
    for thought in [
        json!({"type": "thinking", "thinking": "hm", "signature": "sig"}),
        json!({"type": "thinking", "thinking": "hm!", "signature": "sig"}),
        json!({"type": "text", "text": "no thought"}),
    ] {
        let turn = request_with(json!([{"role": "user", "content": "hi"},
            {"role": "assistant", "content": [thought, call("toolu_01000101")]},
            {"role": "user", "content": [result("toolu_01000101")]}]));
        statuses.push(ask(&server, WIRE, &with(&turn, thinking.clone())).await.0);
    }
    assert_eq!(statuses, [200, 400, 400]);
}
