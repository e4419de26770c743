//! Requests that violate the rules of Gemini, and some valid ones.

use expect_test::expect;
use rheon_providers::wire::WireKind;
use rheon_testkit::server::FakeServer;
use serde_json::{Value, json};

use crate::support::{client, hello, verdicts, with};

const WIRE: WireKind = WireKind::Gemini;

fn request_with(contents: Value) -> Value {
    json!({"contents": contents})
}

#[tokio::test]
async fn conversations() {
    let user = json!({"role": "user", "parts": [{"text": "hi"}]});
    let call = json!({"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]});
    let response = |name: &str| json!({"functionResponse": {"name": name, "response": {"result": "x"}}});
    let result = json!({"role": "user", "parts": [response("read")]});
    let requests = [
        request_with(json!([])),
        request_with(json!([{"role": "assistant", "parts": [{"text": "hi"}]}])),
        request_with(json!([{"role": "user", "parts": []}])),
        request_with(json!([{"role": "user", "parts": [{"text": ""}]}])),
        request_with(json!([{"role": "user", "parts": [{"text": "x", "functionCall": {"name": "a"}}]}])),
        request_with(json!([{"role": "user", "parts": [{"type": "text", "text": "x"}]}])),
        request_with(json!([user, call, result])),
        request_with(json!([user, call])),
        request_with(json!([user, call, user])),
        request_with(json!([user, result])),
        request_with(json!([call, result])),
        request_with(json!([user, call, {"role": "user", "parts": [response("read"), response("read")]}])),
        request_with(json!([user, call, {"role": "user", "parts": [response("write")]}])),
        request_with(
            json!([user, call, {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": "x"}}]}]),
        ),
        request_with(
            json!([user, {"role": "model", "parts": [{"functionCall": {"name": "read", "args": null}, "thoughtSignature": "ä"}]}, result]),
        ),
        request_with(
            json!([{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "no base64"}}]}]),
        ),
    ];
    expect![[r#"
        400 * GenerateContentRequest.contents: contents is not specified
        400 Please use a valid role: user, model.
        400 * GenerateContentRequest.contents[0].parts: contents.parts must not be empty.
        400 Unable to submit request because it must have a text parameter.
        400 * GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field
        400 Invalid JSON payload received. Unknown name "type" at 'contents[0].parts[0]': Cannot find field.
        ok
        400 Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.
        400 Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.
        400 Please ensure that function response turn comes immediately after a function call turn.
        400 Please ensure that function call turn comes immediately after a user turn or after a function response turn.
        400 Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.
        400 Please ensure that function response names match the function call names.
        400 Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)
        400 Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed
        400 Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed"#]].assert_eq(&verdicts(WIRE, &requests).await);
}

#[tokio::test]
async fn settings_and_tools() {
    let hello = hello(WIRE);
    let config = |config: Value| with(&hello, json!({"generationConfig": config}));
    let function = |function: Value| with(&hello, json!({"tools": [{"functionDeclarations": [function]}]}));
    let parameters = |schema: Value| function(json!({"name": "a", "parameters": schema}));
    let requests = [
        with(&hello, json!({"system": "x"})),
        with(&hello, json!({"systemInstruction": {"parts": []}})),
        config(json!({"max_tokens": 5})),
        config(json!({"maxOutputTokens": 0})),
        config(json!({"responseSchema": {"type": "object"}})),
        config(json!({"thinkingConfig": {"thinkingBudget": 5, "thinkingLevel": "low"}})),
        config(json!({"thinkingConfig": {"thinkingLevel": "enormous"}})),
        config(json!({"thinkingConfig": {"thinkingBudget": 99_999}})),
        function(json!({"name": "1a"})),
        function(json!({"name": "a", "input_schema": {}})),
        parameters(json!({"type": "object", "additionalProperties": false})),
        parameters(json!({"type": "object", "$schema": "x"})),
        parameters(json!({"type": ["object", "null"]})),
        parameters(json!({"type": "object", "properties": {"a": {"type": "array"}}})),
        parameters(json!({"type": "object", "properties": {"a": {"type": "integer", "enum": [1]}}})),
        parameters(json!({"type": "object", "required": ["b"], "properties": {}})),
        parameters(json!({"type": "OBJECT", "properties": {"a": {"type": "STRING", "enum": ["x"]}}})),
        function(
            json!({"name": "a", "parametersJsonSchema": {"type": "object", "additionalProperties": false}}),
        ),
        with(&hello, json!({"toolConfig": {"functionCallingConfig": {"mode": "FORCE"}}})),
        with(
            &function(json!({"name": "a"})),
            json!({"toolConfig": {"functionCallingConfig":
            {"mode": "AUTO", "allowedFunctionNames": ["a"]}}}),
        ),
        with(
            &function(json!({"name": "a"})),
            json!({"toolConfig": {"functionCallingConfig":
            {"mode": "ANY", "allowedFunctionNames": ["a"]}}}),
        ),
    ];
    expect![[r#"
        400 Invalid JSON payload received. Unknown name "system": Cannot find field.
        400 * GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.
        400 Invalid JSON payload received. Unknown name "max_tokens" at 'generation_config': Cannot find field.
        400 max_output_tokens must be positive.
        400 * GenerateContentRequest.generation_config.response_schema: only allowed with response_mime_type of "application/json".
        400 You can only set only one of thinking budget and thinking level.
        400 Invalid value at 'generation_config.thinking_config.thinking_level', "enormous"
        400 The thinking budget 99999 is invalid. Please choose a value between 0 and 32768.
        400 * GenerateContentRequest.tools[0].function_declarations[0].name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.
        400 Invalid JSON payload received. Unknown name "input_schema" at 'tools[0].function_declarations[0]': Cannot find field.
        400 Invalid JSON payload received. Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.
        400 Invalid JSON payload received. Unknown name "$schema" at 'tools[0].function_declarations[0].parameters': Cannot find field.
        400 Proto field is not repeating, cannot start list. ('tools[0].function_declarations[0].parameters.type')
        400 * tools[0].function_declarations[0].parameters.properties[a].items: missing field.
        400 * tools[0].function_declarations[0].parameters.properties[a].enum: only allowed for STRING type
        400 * tools[0].function_declarations[0].parameters.required: property is not defined: "b"
        ok
        ok
        400 Invalid value at 'tool_config.function_calling_config.mode', "FORCE"
        400 Allowed function names should be set only when mode is ANY or VALIDATED.
        ok"#]].assert_eq(&verdicts(WIRE, &requests).await);
}

#[tokio::test]
async fn gemini_3_requires_the_signatures_of_the_current_turn() {
    let server = FakeServer::start(rheon_testkit::server::Script::default()).await.unwrap();
    let address = format!("{}/v1beta/models/gemini-3-pro:generateContent?key=k", server.url());
    let ask = async |call: Value| {
        let body = request_with(
            json!([{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [call]},
            {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {}}}]}]),
        );
        client().post(&address).json(&body).send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask(json!({"functionCall": {"name": "read", "args": {}}})).await, 400);
    assert_eq!(
        ask(json!({"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "YQ=="})).await,
        200
    );
}
