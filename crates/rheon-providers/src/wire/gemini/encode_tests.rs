//! Tests of requests: golden files and signatures.

use std::sync::Arc;

use expect_test::{ExpectFile, expect_file};
use rheon_types::{
    AgentMessage, AssistantMessage, Author, Content, Message, ModelInfo, OutputSchema, Request, Signature,
    SignatureKind, StopReason, SystemSection, ThinkingLevel, Timestamp, ToolCall, ToolChoice, ToolDefinition,
    ToolResultMessage, Usage, UserMessage,
};
use serde_json::{Value, json};

use super::config::ThinkingConfig;
use super::encode::encode;
use super::generation::Generation;
use crate::catalog::{Model, ThinkingStyle};
use crate::compat::Compat;
use crate::wire::codec::WireRequest;

fn user(content: Vec<Content>) -> Message {
    Message::User(UserMessage { content, timestamp: Timestamp::default(), author: Author::default() })
}

pub(super) fn answer(content: Vec<Content>, provider: &str) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        stop_reason: StopReason::ToolUse,
        model: String::new(),
        provider: provider.to_owned(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    })
}

fn result(id: &str, content: Vec<Content>, is_error: bool) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content,
        is_error,
        timestamp: Timestamp::default(),
    })
}

fn call(id: &str, arguments: Value) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    })
}

fn signed(text: &str, kind: SignatureKind, data: &str, origin: &str) -> Content {
    let signature = Signature { data: data.to_owned(), kind, id: None, origin: origin.to_owned() };
    Content::Thinking { thinking: text.to_owned(), signature: Some(signature) }
}

fn image() -> Content {
    Content::Image { data: "iVBORw0KGgo=".to_owned(), mime_type: "image/png".to_owned() }
}

fn tools() -> Arc<[ToolDefinition]> {
    let schema = json!({"type": "object", "properties": {"path": {"type": ["string", "null"]}}, "$defs": {}});
    Arc::from([ToolDefinition {
        name: "read".into(),
        description: "Reads a file.".to_owned(),
        parameters: schema,
    }])
}

pub(super) fn request(model: &str, messages: Vec<Message>) -> Request {
    let messages = messages.into_iter().map(|message| Arc::new(AgentMessage::from(message))).collect();
    Request { messages, ..Request::new(model) }
}

pub(super) fn body(request: &Request, vendor: &str, thinking: ThinkingStyle) -> Value {
    let model = Model { thinking, ..Model::unknown(&request.model) };
    let origin = format!("{vendor}/{}", request.model);
    let call = WireRequest { request, model: &model, compat: &Compat::default(), origin: &origin };
    serde_json::from_slice(&encode(&call).unwrap()).unwrap()
}

fn golden(expected: ExpectFile, body: &Value) {
    expected.assert_eq(&format!("{body:#}\n"));
}

fn budget() -> ThinkingStyle {
    ThinkingStyle::Budget { min: 128, max: 32_768, can_disable: true }
}

fn levels() -> ThinkingStyle {
    use ThinkingLevel::{High, Low, Medium, Minimal};
    ThinkingStyle::Levels(vec![Minimal, Low, Medium, High])
}

/// Two parallel calls, the first one signed, with an image and an error as results; then another prompt.
fn conversation(origin: &str) -> Vec<Message> {
    vec![
        user(vec![Content::text("Look at a and b.")]),
        answer(
            vec![
                signed("Both at once.", SignatureKind::Proof, "cHJvb2Y=", origin),
                Content::text("Reading."),
                signed("", SignatureKind::Next, "bmV4dA==", origin),
                call("id-a", json!({"path": "a.png"})),
                call("google-fc-1", json!({"path": "b"})),
            ],
            "google",
        ),
        result("id-a", vec![Content::text("a picture:"), image()], false),
        result("google-fc-1", vec![Content::text("no such file")], true),
        user(vec![Content::text("Go on.")]),
    ]
}

#[test]
fn prompt_with_image_and_system_sections() {
    let section = |text: &str, stable| SystemSection { text: text.into(), stable };
    let request = Request {
        system: [section("You are Rheon.", true), section("Today is Monday.", false)].into_iter().collect(),
        tokens_max: Some(1000),
        temperature: Some(0.7),
        ..request("gemini-2.5-flash", vec![user(vec![Content::text("What is this? \u{1f980}"), image()])])
    };
    golden(expect_file!["../../../tests/golden/gemini/prompt.json"], &body(&request, "google", budget()));
}

#[test]
fn tools_and_thinking_before_gemini_3() {
    let request = Request {
        tools: tools(),
        tool_choice: ToolChoice::Tool("read".into()),
        thinking: ThinkingLevel::Medium,
        ..request("gemini-2.5-pro", conversation("google/gemini-2.5-pro"))
    };
    golden(expect_file!["../../../tests/golden/gemini/tools_2.json"], &body(&request, "google", budget()));
}

#[test]
fn tools_and_thinking_since_gemini_3() {
    let request = Request {
        tools: tools(),
        tool_choice: ToolChoice::Required,
        thinking: ThinkingLevel::Max,
        ..request("gemini-3-pro-preview", conversation("google/gemini-3-pro-preview"))
    };
    golden(expect_file!["../../../tests/golden/gemini/tools_3.json"], &body(&request, "google", levels()));
}

#[test]
fn foreign_calls_have_the_documented_placeholder_signature() {
    let request = Request {
        tools: tools(),
        ..request(
            "gemini-3-flash",
            vec![
                user(vec![Content::text("Read both.")]),
                answer(
                    vec![
                        signed("A plan.", SignatureKind::Proof, "c2VjcmV0", "anthropic/claude"),
                        call("toolu_1", json!({})),
                        call("toolu_2", json!({})),
                    ],
                    "anthropic",
                ),
                result("toolu_1", vec![Content::text("1")], false),
            ],
        )
    };
    golden(
        expect_file!["../../../tests/golden/gemini/handed_over.json"],
        &body(&request, "vertex", levels()),
    );
}

#[test]
fn structured_output() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let output_schema = Some(Arc::new(OutputSchema { name: "n".to_owned(), schema }));
    let asked = vec![user(vec![Content::text("A number.")])];
    let bare = Request { output_schema: output_schema.clone(), ..request("gemini-2.5-flash", asked.clone()) };
    golden(
        expect_file!["../../../tests/golden/gemini/schema.json"],
        &body(&bare, "google", ThinkingStyle::None),
    );
    let old = Request {
        output_schema: output_schema.clone(),
        tools: tools(),
        ..request("gemini-2.5-flash", asked.clone())
    };
    golden(
        expect_file!["../../../tests/golden/gemini/schema_and_tools_2.json"],
        &body(&old, "google", ThinkingStyle::None),
    );
    let new = Request { output_schema, tools: tools(), ..request("gemini-3-flash", asked) };
    golden(
        expect_file!["../../../tests/golden/gemini/schema_and_tools_3.json"],
        &body(&new, "google", ThinkingStyle::None),
    );
}

#[test]
fn signature_stays_in_place() {
    let origin = "google/gemini-3-pro";
    let content = vec![
        signed("", SignatureKind::Proof, "p0", origin),
        signed("", SignatureKind::Redacted, "r", origin),
        signed("", SignatureKind::Next, "n1", origin),
        signed("then", SignatureKind::Proof, "p1", origin),
        Content::Thinking { thinking: "unsigned".to_owned(), signature: None },
        Content::text("text"),
        signed("", SignatureKind::Next, "n2", origin),
    ];
    let request = request("gemini-3-pro", vec![user(vec![Content::text("hi")]), answer(content, "google")]);
    assert_eq!(
        body(&request, "google", ThinkingStyle::None)["contents"][1]["parts"],
        json!([
            {"text": "", "thought": true, "thoughtSignature": "p0"},
            {"text": "", "thoughtSignature": "r"},
            {"text": "", "thoughtSignature": "n1"},
            {"text": "then", "thought": true, "thoughtSignature": "p1"},
            {"text": "unsigned", "thought": true},
            {"text": "text"},
            {"text": "", "thoughtSignature": "n2"},
        ])
    );
}

#[test]
fn foreign_signatures_are_not_sent() {
    let body =
        body(&request("gemini-3-pro", conversation("google/gemini-2.5-pro")), "google", ThinkingStyle::None);
    let text = body.to_string();
    assert!(!text.contains("cHJvb2Y=") && !text.contains("bmV4dA=="), "{text}");
    assert!(text.contains("skip_thought_signature_validator"), "{text}");
}

#[test]
fn generation_is_derived_from_the_name() {
    let three = ["gemini-3-pro-preview", "gemini-3.5-flash", "models/gemini-12", "gemini-flash-latest"];
    let two = ["gemini-2.5-pro", "gemini-1.5", "gemini-pro", "gemma-3-27b-it", "", "gemini-99999999999999"];
    assert!(three.iter().all(|model| Generation::of(model) == Generation::Three));
    assert!(two.iter().all(|model| Generation::of(model) == Generation::Two));
}

#[test]
fn every_thinking_level_is_mapped() {
    use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off};
    let all = [Off, Minimal, Low, Medium, High, Max];
    let said = |style: &ThinkingStyle| {
        all.map(|level| serde_json::to_value(ThinkingConfig::new(style, level)).unwrap().to_string())
            .join("\n")
    };
    expect_test::expect![[r#"
        {"thinkingBudget":0}
        {"includeThoughts":true,"thinkingBudget":512}
        {"includeThoughts":true,"thinkingBudget":1024}
        {"includeThoughts":true,"thinkingBudget":8192}
        {"includeThoughts":true,"thinkingBudget":24576}
        {"includeThoughts":true,"thinkingBudget":32768}"#]]
    .assert_eq(&said(&budget()));
    let narrow = ThinkingStyle::Budget { min: 2_048, max: 4_096, can_disable: false };
    expect_test::expect![[r#"
        {"thinkingBudget":2048}
        {"includeThoughts":true,"thinkingBudget":2048}
        {"includeThoughts":true,"thinkingBudget":2048}
        {"includeThoughts":true,"thinkingBudget":4096}
        {"includeThoughts":true,"thinkingBudget":4096}
        {"includeThoughts":true,"thinkingBudget":4096}"#]]
    .assert_eq(&said(&narrow));
    expect_test::expect![[r#"
        {"thinkingLevel":"LOW"}
        {"includeThoughts":true,"thinkingLevel":"LOW"}
        {"includeThoughts":true,"thinkingLevel":"LOW"}
        {"includeThoughts":true,"thinkingLevel":"LOW"}
        {"includeThoughts":true,"thinkingLevel":"HIGH"}
        {"includeThoughts":true,"thinkingLevel":"HIGH"}"#]]
    .assert_eq(&said(&ThinkingStyle::Levels(vec![Low, High])));
    expect_test::expect![[r#"
        {"thinkingBudget":0}
        {"includeThoughts":true,"thinkingBudget":-1}
        {"includeThoughts":true,"thinkingBudget":-1}
        {"includeThoughts":true,"thinkingBudget":-1}
        {"includeThoughts":true,"thinkingBudget":-1}
        {"includeThoughts":true,"thinkingBudget":-1}"#]]
    .assert_eq(&said(&ThinkingStyle::Toggle));
    expect_test::expect![[r#"
        null
        {"includeThoughts":true}
        {"includeThoughts":true}
        {"includeThoughts":true}
        {"includeThoughts":true}
        {"includeThoughts":true}"#]]
    .assert_eq(&said(&ThinkingStyle::Always));
    assert_eq!(ThinkingConfig::new(&ThinkingStyle::None, High), None);
    assert_eq!(ThinkingConfig::new(&ThinkingStyle::Levels(vec![Off]), Off), None);
}

#[test]
fn limit_above_the_models_is_lowered() {
    let request =
        Request { tokens_max: Some(100_000), ..request("gemini-2.5-flash", vec![user(vec!["a".into()])]) };
    let info = ModelInfo { known: true, output_tokens_max: 65_536, ..ModelInfo::unknown("gemini-2.5-flash") };
    let model = Model { info: Arc::new(info), thinking: ThinkingStyle::None, tool_style: None };
    let compat = Compat::default();
    let call =
        WireRequest { request: &request, model: &model, compat: &compat, origin: "google/gemini-2.5-flash" };
    let body: Value = serde_json::from_slice(&encode(&call).unwrap()).unwrap();
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 65_536}));
}

#[test]
fn thinking_budget_stays_below_the_output_limit() {
    let budget_at = |tokens_max: u32, level: ThinkingLevel| {
        let request = Request {
            tokens_max: Some(tokens_max),
            thinking: level,
            ..request("gemini-2.5-pro", vec![user(vec![Content::text("a")])])
        };
        body(&request, "google", budget())["generationConfig"]["thinkingConfig"]["thinkingBudget"].as_i64()
    };
    let budgets = [1, 100, 1_000, 8_192, 65_536].map(|tokens_max| budget_at(tokens_max, ThinkingLevel::High));
    assert_eq!(budgets, [Some(0), Some(75), Some(750), Some(6_144), Some(24_576)]);
    assert_eq!(budget_at(8_192, ThinkingLevel::Max), Some(6_144));
}
