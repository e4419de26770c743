//! Golden requests: conversations in, JSON out.

use std::sync::Arc;

use expect_test::{expect, expect_file};
use rheon_types::{CacheConfig, Content, OutputSchema, Request, SignatureKind, ThinkingLevel, ToolChoice};
use serde_json::{Value, json};

use crate::catalog::ThinkingStyle;
use crate::compat::Compat;
use crate::wire::WireKind;
use crate::wire::claude_fixtures::*;

const WIRE: WireKind = WireKind::Bedrock;

fn plain(request: &Request) -> String {
    encode(WIRE, request, &model(ThinkingStyle::None))
}

fn field(body: &str, pointer: &str) -> Value {
    serde_json::from_str::<Value>(body).unwrap().pointer(pointer).cloned().unwrap_or(Value::Null)
}

#[test]
fn text() {
    let mut request = request([user("Hello, wörld ✓"), answer(vec!["Hi.".into()]), user("More.\n")]);
    request.temperature = Some(0.7);
    request.cache = CacheConfig { enabled: false, ..CacheConfig::default() };
    expect_file!["../../../tests/golden/bedrock/text.json"].assert_eq(&plain(&request));
}

#[test]
fn system_prompt_sections_with_tools_and_four_cache_points() {
    let mut request =
        request([user("a"), answer(vec!["b".into()]), user("c"), answer(vec!["d".into()]), user("e")]);
    request.system =
        [section("Rules.", true), section("  \n", true), section("Today.", false)].into_iter().collect();
    request.tools = [tool("read"), tool("write")].into();
    let body = plain(&request);
    assert_eq!(body.matches("cachePoint").count(), 4);
    expect_file!["../../../tests/golden/bedrock/system_and_cache.json"].assert_eq(&body);
    let body = encode_for(WIRE, &request, &model(ThinkingStyle::None), &Compat::default());
    assert_eq!(body.matches("cachePoint").count(), 0);
}

#[test]
fn cache_point_never_comes_first_and_blank_system_prompt_is_omitted() {
    let mut request = request([user("a")]);
    request.system = [section(" ", true), section("Today.", false)].into_iter().collect();
    assert_eq!(field(&plain(&request), "/system"), json!([{"text": "Today."}]));
    request.system = " ".into();
    assert_eq!(field(&plain(&request), "/system"), Value::Null);
}

#[test]
fn images() {
    let content = vec![
        image(),
        Content::Image { data: "QQ==".into(), mime_type: "image/jpg".into() },
        Content::Image { data: "QQ==".into(), mime_type: "image/svg+xml".into() },
        "What is this?".into(),
    ];
    expect_file!["../../../tests/golden/bedrock/pictures.json"]
        .assert_eq(&plain(&request([user_blocks(content)])));
}

#[test]
fn parallel_calls_with_results_images_and_errors() {
    let mut request = request([
        user("Read both."),
        answer(vec![
            "Reading.".into(),
            call("tooluse_1", "read", json!({"path": "a"})),
            call("tooluse_2", "read", Value::Null),
        ]),
        result("tooluse_2", vec!["cannot read".into(), " ".into()], true),
        result("tooluse_1", vec!["a picture".into(), image()], false),
        user("And now?"),
    ]);
    request.tools = [tool("read")].into();
    expect_file!["../../../tests/golden/bedrock/parallel_calls.json"].assert_eq(&plain(&request));
}

#[test]
fn calls_in_the_history_add_placeholder_tools() {
    let mut request = request([
        user("a"),
        answer(vec![
            call("t|1", "write", json!({})),
            call("t2", "read.file", json!({})),
            call("t3", "write", json!({})),
        ]),
        result("t|1", vec![" ".into()], false),
    ]);
    request.tool_choice = ToolChoice::None;
    expect_file!["../../../tests/golden/bedrock/stand_in_tools.json"].assert_eq(&plain(&request));
}

/// A response with reasoning whose signature comes in pieces, redacted reasoning, and a call.
const THOUGHTFUL: &[(&str, &str)] = &[
    ("messageStart", r#"{"role":"assistant"}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Let me\n"}}}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"\"see\" 🦀 "}}}"#),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"Eq/+Ab\\/"}}}"#,
    ),
    ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"\u00fc=="}}}"#),
    ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"RW13Lys="}}}"#,
    ),
    ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"tooluse_7","name":"read"}}}"#,
    ),
    ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"path\":\"ü\"}"}}}"#),
    ("contentBlockStop", r#"{"contentBlockIndex":2}"#),
    ("messageStop", r#"{"stopReason":"tool_use"}"#),
    ("metadata", r#"{"usage":{"inputTokens":9,"outputTokens":7,"totalTokens":16}}"#),
];

#[test]
fn reasoning_is_sent_back_byte_for_byte() {
    let answer = drafted(WIRE, THOUGHTFUL);
    let request = Request {
        thinking: ThinkingLevel::Medium,
        ..request([user("Look."), answer, result("tooluse_7", vec!["seen".into()], false)])
    };
    let body = encode(WIRE, &request, &model(budget()));
    assert_eq!(
        field(&body, "/messages/1/content"),
        json!([
            {"reasoningContent": {"reasoningText": {"text": "Let me\n\"see\" 🦀 ", "signature": "Eq/+Ab\\/ü=="}}},
            {"reasoningContent": {"redactedContent": "RW13Lys="}},
            {"toolUse": {"toolUseId": "tooluse_7", "name": "read", "input": {"path": "ü"}}},
        ])
    );
    expect_file!["../../../tests/golden/bedrock/thinking_replay.json"].assert_eq(&body);
}

#[test]
fn thinking_of_another_model_becomes_text_without_opaque_data() {
    let foreign = vec![
        thinking("I wonder.", "sig", SignatureKind::Proof, "other/model"),
        thinking("", "c2VjcmV0", SignatureKind::Redacted, "other/model"),
        "Yes.".into(),
    ];
    let body = plain(&request([user("Is it?"), answer(foreign), user("Sure?")]));
    assert_eq!(
        field(&body, "/messages/1/content"),
        json!([{"text": "<thinking>\nI wonder.\n</thinking>"}, {"text": "Yes."}])
    );
}

#[test]
fn other_models_get_no_thinking_fields_and_no_cache_points() {
    let mut request = request([
        user("a"),
        answer(vec![Content::Thinking { thinking: "Hm.".into(), signature: None }, "b".into()]),
        user("c"),
    ]);
    request.model = "amazon.nova-pro-v1:0".into();
    request.thinking = ThinkingLevel::High;
    request.temperature = Some(0.5);
    expect_file!["../../../tests/golden/bedrock/other_model.json"].assert_eq(&encode(
        WIRE,
        &request,
        &model(budget()),
    ));
}

#[test]
fn every_tool_choice() {
    let chosen = |choice: ToolChoice| {
        let request = Request { tool_choice: choice, tools: [tool("read")].into(), ..request([user("a")]) };
        let body = plain(&request);
        let tools = field(&body, "/toolConfig/tools").as_array().map_or(0, Vec::len);
        format!("{} of {tools}\n", field(&body, "/toolConfig/toolChoice"))
    };
    let choices = [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required, ToolChoice::Tool("read".into())];
    expect![[r#"
        null of 2
        null of 0
        {"any":{}} of 2
        {"tool":{"name":"read"}} of 2
    "#]]
    .assert_eq(&choices.map(chosen).concat());
}

#[test]
fn output_schema() {
    let schema =
        json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "additionalProperties": false});
    let request = Request {
        output_schema: Some(Arc::new(OutputSchema { name: "verdict".into(), schema: schema.clone() })),
        ..request([user("Is it \"good\"?")])
    };
    let body = plain(&request);
    let text = field(&body, "/outputConfig/textFormat/structure/jsonSchema/schema");
    assert_eq!(serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap(), schema);
    expect_file!["../../../tests/golden/bedrock/schema.json"].assert_eq(&body);
}

#[test]
fn every_thinking_style() {
    use ThinkingLevel::{High, Low, Max, Off};
    let styles = [
        budget(),
        ThinkingStyle::Levels(vec![Off, Low, High, Max]),
        ThinkingStyle::Always,
        ThinkingStyle::None,
    ];
    let mut text = String::new();
    for style in styles {
        for thinking in [Off, Low, Max] {
            let request = Request { thinking, temperature: Some(0.5), ..request([user("a")]) };
            let body = encode(WIRE, &request, &model(style.clone()));
            let [inference, fields] =
                ["/inferenceConfig", "/additionalModelRequestFields"].map(|pointer| field(&body, pointer));
            text.push_str(&format!("{thinking:?}: {inference} {fields}\n"));
        }
    }
    expect![[r#"
        Off: {"maxTokens":32000,"temperature":0.5} null
        Low: {"maxTokens":36096} {"thinking":{"budget_tokens":4096,"type":"enabled"}}
        Max: {"maxTokens":64000} {"thinking":{"budget_tokens":32768,"type":"enabled"}}
        Off: {"maxTokens":32000} {"thinking":{"type":"disabled"}}
        Low: {"maxTokens":32000} {"output_config":{"effort":"low"},"thinking":{"display":"summarized","type":"adaptive"}}
        Max: {"maxTokens":32000} {"output_config":{"effort":"max"},"thinking":{"display":"summarized","type":"adaptive"}}
        Off: {"maxTokens":32000} null
        Low: {"maxTokens":32000} null
        Max: {"maxTokens":32000} null
        Off: {"maxTokens":32000,"temperature":0.5} null
        Low: {"maxTokens":32000,"temperature":0.5} null
        Max: {"maxTokens":32000,"temperature":0.5} null
    "#]].assert_eq(&text);
}

#[test]
fn blank_text_is_omitted_and_last_message_is_continued_or_followed() {
    let open = || request([user(" "), answer(vec!["\t".into(), "The answer is: \n".into()])]);
    expect![[r#"[{"content":[{"text":"(empty message)"},{"cachePoint":{"type":"default"}}],"role":"user"},{"content":[{"text":"The answer is:"}],"role":"assistant"}]"#]].assert_eq(&field(&plain(&open()), "/messages").to_string());
    let levels = model(ThinkingStyle::Levels(vec![ThinkingLevel::Low]));
    expect![[r#"{"content":[{"text":"Continue."}],"role":"user"}"#]]
        .assert_eq(&field(&encode(WIRE, &open(), &levels), "/messages/2").to_string());
}

#[test]
fn empty_conversation_is_an_error() {
    expect![[r#"
        InvalidRequest: the conversation has no message to send; add a user message first
    "#]]
    .assert_eq(&plain(&request([])));
}
