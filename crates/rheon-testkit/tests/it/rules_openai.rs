//! Requests that violate the rules of Chat Completions and Responses, and some valid ones.

use expect_test::expect;
use rheon_providers::wire::WireKind;
use serde_json::{Value, json};

use crate::support::{hello, verdicts, with};

fn chat(messages: Value) -> Value {
    with(&hello(WireKind::Chat), json!({"messages": messages}))
}

fn input(items: Value) -> Value {
    with(&hello(WireKind::Responses), json!({"input": items}))
}

#[tokio::test]
async fn chat_conversations() {
    let user = json!({"role": "user", "content": "hi"});
    let call = |id: &str, arguments: &str| {
        json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}]})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": ""});
    let requests = [
        chat(json!([])),
        chat(json!([{"role": "model", "content": "x"}])),
        chat(json!([user, {"role": "system", "content": "x"}])),
        chat(json!([{"role": "system", "content": "x"}, user])),
        chat(json!([{"role": "user", "content": null}])),
        chat(json!([{"role": "user", "content": ""}])),
        chat(json!([{"role": "user", "content": [{"type": "text", "text": ""}]}])),
        chat(json!([{"role": "user", "content": [{"type": "input_text", "text": "x"}]}])),
        chat(
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,?"}}]}]),
        ),
        chat(json!([user, call("a", "{}"), result("a")])),
        chat(json!([user, call("a", "{}"), result("a"), result("a")])),
        chat(json!([user, call("a", "null"), result("a")])),
        chat(json!([user, call("a", "{}")])),
        chat(json!([user, call("a", "{}"), user])),
        chat(json!([user, result("a")])),
        chat(json!([user, call(&"x".repeat(65), "{}")])),
        chat(json!([user, {"role": "assistant", "content": "x", "tool_calls": []}])),
    ];
    expect![[r#"
        400 Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.
        400 Invalid value: 'model'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'. (messages[0].role)
        400 messages[1]: System message must be at the beginning.
        ok
        400 Invalid value for 'content': expected a string, got null. (messages[0].content)
        400 Invalid value for 'messages[0].content': message must not be empty.
        400 Invalid 'messages[0].content[0].text': text content must not be empty.
        400 Invalid value: 'input_text'. Supported values are: ["text", "image_url", "input_audio", "file", "video_url"]. (messages[0].content[0].type)
        400 Invalid base64 image_url. (messages[0].content[0].image_url.url)
        ok
        400 Duplicate tool result for tool_call_id 'a'. (messages[3])
        400 Invalid 'messages[1].tool_calls[0].function.arguments': expected a string with a JSON object.
        400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a
        400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a
        400 Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.
        400 Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.
        400 [] is too short - 'messages.1.tool_calls'"#]].assert_eq(&verdicts(WireKind::Chat, &requests).await);
}

#[tokio::test]
async fn chat_settings_and_tools() {
    let hello = hello(WireKind::Chat);
    let tool = |function: Value| with(&hello, json!({"tools": [{"type": "function", "function": function}]}));
    let good = tool(json!({"name": "a", "parameters": {"type": "object"}}));
    let requests = [
        with(&hello, json!({"stream": false})),
        with(&hello, json!({"max_tokens": 1, "max_completion_tokens": 1})),
        with(&hello, json!({"max_tokens": 0})),
        with(&hello, json!({"reasoning_effort": "enormous"})),
        with(&hello, json!({"tools": []})),
        with(&hello, json!({"tools": [{"name": "a"}]})),
        tool(json!({"name": "a.b"})),
        tool(json!({"name": "a", "parameters": {"type": "string"}})),
        tool(
            json!({"name": "a", "strict": true, "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}),
        ),
        with(&hello, json!({"tool_choice": "auto"})),
        with(&good, json!({"tool_choice": "any"})),
        with(&good, json!({"tool_choice": {"type": "function", "function": {"name": "b"}}})),
        with(&good, json!({"tool_choice": {"type": "function", "function": {"name": "a"}}})),
        with(&hello, json!({"response_format": {"type": "json_object"}})),
        with(&hello, json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}})),
        with(
            &hello,
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true,
            "schema": {"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}}}}}),
        ),
    ];
    expect![[r#"
        400 The 'stream_options' parameter is only allowed when 'stream' is enabled.
        400 Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.
        400 Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.
        400 Invalid value: 'enormous'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', and 'xhigh'.
        400 [] is too short - 'tools'
        400 Invalid value: ''. Supported values are: 'function' and 'custom'. (tools[0].type)
        400 Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters.
        400 Invalid schema for function 'a': schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.
        400 Invalid schema for function 'a': In context=(), 'additionalProperties' is required to be supplied and to be false.
        400 Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.
        400 Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.
        400 Invalid value for 'tool_choice': no function named 'b' was specified in the 'tools' parameter.
        ok
        400 'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.
        400 Invalid 'response_format.json_schema.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters.
        400 Invalid schema for response_format 'x': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'."#]].assert_eq(&verdicts(WireKind::Chat, &requests).await);
}

#[tokio::test]
async fn responses_conversations() {
    let user = json!({"role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    let call = |id: &str| json!({"type": "function_call", "id": id, "call_id": "a", "name": "read", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "a", "output": ""});
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
    let requests = [
        input(json!([])),
        input(json!([{"role": "tool", "content": "x"}])),
        input(json!([{"role": "user", "content": [{"type": "text", "text": "x"}]}])),
        input(json!([{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}])),
        input(json!([user, thought, call("fc_1"), output])),
        input(json!([user, thought, output])),
        input(json!([user, thought])),
        input(json!([user, {"type": "reasoning", "id": "rs_1", "summary": []}, call("fc_1"), output])),
        input(json!([user, call("call_1"), output])),
        input(json!([user, call("fc_1")])),
        input(json!([user, call("fc_1"), call("fc_1"), output])),
        input(json!([{"type": "function_call", "call_id": "a", "name": "read", "arguments": {}}, output])),
        input(
            json!([{"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}]),
        ),
    ];
    expect![[r#"
        400 One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.
        400 Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'. (input[0].role)
        400 Invalid value: 'text'. Supported values are: ["input_text", "input_image", "input_file", "input_audio"]. (input[0].content[0].type)
        400 Invalid value: 'input_text'. Supported values are: ["output_text", "refusal"]. (input[0].content[0].type)
        ok
        400 Item 'rs_1' of type 'reasoning' was provided without its required following item.
        400 Item 'rs_1' of type 'reasoning' was provided without its required following item.
        400 Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.
        400 Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.
        400 No tool output found for function call a.
        400 Duplicate item found with id fc_1. Remove duplicate items from your input and try again.
        400 Invalid type for 'input[0].arguments': expected a string.
        ok"#]].assert_eq(&verdicts(WireKind::Responses, &requests).await);
}

#[tokio::test]
async fn responses_settings_and_tools() {
    let hello = hello(WireKind::Responses);
    let tool = |tool: Value| with(&hello, json!({"tools": [tool]}));
    let requests = [
        with(&hello, json!({"messages": []})),
        with(&hello, json!({"max_tokens": 5})),
        with(&hello, json!({"max_output_tokens": 15})),
        with(&hello, json!({"seed": 5})),
        with(&hello, json!({"include": ["everything"]})),
        with(&hello, json!({"reasoning": {"effort": "low", "summary": "long"}})),
        with(&hello, json!({"prompt_cache_key": "x".repeat(65)})),
        tool(json!({"type": "function", "function": {"name": "a"}})),
        tool(json!({"type": "function", "name": "a b"})),
        tool(json!({"type": "function", "name": "a", "parameters": {"type": "object"}, "strict": true})),
        tool(json!({"type": "function", "name": "a", "parameters": {"type": "object"}, "strict": false})),
        with(&hello, json!({"tool_choice": "required"})),
        with(
            &tool(json!({"type": "function", "name": "a"})),
            json!({"tool_choice": {"type": "function", "name": "b"}}),
        ),
        with(&hello, json!({"text": {"format": {"type": "json_schema", "json_schema": {"name": "x"}}}})),
        with(
            &hello,
            json!({"text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}}}),
        ),
    ];
    expect![[r#"
        400 Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'.
        400 Unsupported parameter: 'max_tokens'. In the Responses API, this parameter has moved to 'max_output_tokens'.
        400 Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.
        400 Unknown parameter: 'seed'.
        400 Invalid value: "everything". Supported values are: ["code_interpreter_call.outputs", "computer_call_output.output.image_url", "file_search_call.results", "message.input_image.image_url", "message.output_text.logprobs", "reasoning.encrypted_content", "web_search_call.action.sources", "web_search_call.results"]. (include[0])
        400 Invalid value: 'long'. Supported values are: 'auto', 'concise', and 'detailed'. (reasoning.summary)
        400 Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.
        400 Missing required parameter: 'tools[0].name'.
        400 Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters.
        400 Invalid schema for function 'a': In context=(), 'additionalProperties' is required to be supplied and to be false.
        ok
        400 Tool choice 'required' must be specified with 'tools' parameter.
        400 Tool choice 'b' not found in 'tools' parameter.
        400 Missing required parameter: 'text.format.name'.
        ok"#]].assert_eq(&verdicts(WireKind::Responses, &requests).await);
}
