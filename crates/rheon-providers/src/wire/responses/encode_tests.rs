//! Responses requests: golden files, thinking, and what must not be sent.

use std::sync::Arc;

use rheon_types::{Content, Message, OutputSchema, Request, SystemSection, ThinkingLevel, ToolChoice};
use serde_json::{Value, json};

use crate::call_id::CallIdRule;
use crate::catalog::{Model, ThinkingStyle};
use crate::compat::{CacheStyle, Compat, StructuredOutput, ToolStyle};
use crate::wire::WireKind::Responses;
use crate::wire::openai_fixtures::*;

fn openai() -> Compat {
    Compat { cache: CacheStyle::Key, call_id: CallIdRule::Word64, ..Compat::default() }
}

fn gpt() -> Model {
    use ThinkingLevel::{High, Low, Max, Medium, Off};
    model(ThinkingStyle::Levels(vec![Off, Low, Medium, High, Max]))
}

fn schema() -> Option<Arc<OutputSchema>> {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    Some(Arc::new(OutputSchema { name: "number".into(), schema }))
}

#[test]
fn text_to_a_model_without_thinking() {
    let section = |text: &str, stable| SystemSection { text: text.into(), stable };
    let request = Request {
        system: [section("You help.", true), section("Today.", false)].into_iter().collect(),
        tokens_max: Some(4096),
        temperature: Some(0.7),
        thinking: ThinkingLevel::High,
        ..request([user("hi"), answer(vec![Content::text("hello")]), user("grüße 🦀")])
    };
    golden(Responses, "text", &request, &model(ThinkingStyle::None), &Compat::default());
}

#[test]
fn tools_images_errors_and_encrypted_reasoning() {
    let mut messages = with_tools();
    messages.extend([
        answer(vec![
            thinking("**Plan**\n\nThink.", Some(("gAAAA+/=é", Some("rs_1"))), ORIGIN),
            thinking("", Some(("gAAAB", None)), ORIGIN),
            tool_call("call_3", "shot", json!({"n": 1})),
            thinking("alone", Some(("gAAAC", Some("rs_3"))), ORIGIN),
        ]),
        failed("call_3", vec![image("QQ=="), Content::text("half a picture")]),
        user_with(vec![Content::text("and this?"), image("Qg==")]),
    ]);
    let request = Request {
        system: "You help.".into(),
        tools: Arc::from([tool("read"), tool("list")]),
        tool_choice: ToolChoice::Tool("read".into()),
        thinking: ThinkingLevel::Max,
        temperature: Some(0.5),
        tokens_max: Some(1000),
        output_schema: schema(),
        cache_key: Some("session-1".into()),
        ..request(messages)
    };
    golden(Responses, "tools", &request, &gpt(), &openai());
}

#[test]
fn unusable_reasoning_is_omitted() {
    let input = |content: Vec<Content>| {
        let request = request([user("x"), answer(content), user("y")]);
        let body = body(Responses, &request, &gpt(), &openai());
        let kinds = body["input"].as_array().unwrap().iter().map(|item| item["type"].clone());
        kinds.map(|kind| kind.as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let own = || thinking("t", Some(("E", Some("rs"))), ORIGIN);
    assert_eq!(input(vec![own()]), "message message");
    assert_eq!(input(vec![own(), own()]), "message message");
    assert_eq!(input(vec![own(), Content::text("a")]), "message reasoning message message");
    assert_eq!(input(vec![Content::text("a"), own()]), "message message message");
    assert_eq!(
        input(vec![thinking("t", Some(("", Some("rs"))), ORIGIN), Content::text("a")]),
        "message message message"
    );
    assert_eq!(
        input(vec![thinking("t", Some(("E", Some("rs"))), "other/m"), Content::text("a")]),
        "message message message message"
    );
}

#[test]
fn thinking_is_set_by_effort_and_disabled_if_supported() {
    use ThinkingLevel::*;
    let reasoning = |style: ThinkingStyle, thinking| {
        let request = Request { thinking, temperature: Some(1.0), ..request([user("x")]) };
        let body = body(Responses, &request, &model(style), &openai());
        (
            body.get("reasoning").cloned().unwrap_or_default(),
            body.get("include").is_some(),
            body.get("temperature").is_some(),
        )
    };
    let new = || ThinkingStyle::Levels(vec![Off, Low, High]);
    let old = || ThinkingStyle::Levels(vec![Low, Medium, High]);
    let first = || ThinkingStyle::Levels(vec![Minimal, Low]);
    assert_eq!(reasoning(new(), Off), (json!({"effort": "none"}), true, true));
    assert_eq!(reasoning(new(), Max), (json!({"effort": "high", "summary": "auto"}), true, false));
    assert_eq!(reasoning(old(), Off), (Value::Null, true, false));
    assert_eq!(reasoning(first(), Off), (json!({"effort": "minimal", "summary": "auto"}), true, false));
    assert_eq!(reasoning(ThinkingStyle::Always, High), (Value::Null, true, true));
    assert_eq!(reasoning(ThinkingStyle::None, High), (Value::Null, false, true));
}

#[test]
fn tool_choices_prompted_schemas_and_prompted_tools() {
    let with = |tool_choice, compat: &Compat| {
        let request = Request {
            tools: Arc::from([tool("read")]),
            tool_choice,
            output_schema: schema(),
            ..request([user("x")])
        };
        body(Responses, &request, &gpt(), compat)
    };
    assert_eq!(with(ToolChoice::Auto, &openai()).get("tool_choice"), None);
    assert_eq!(with(ToolChoice::None, &openai())["tool_choice"], "none");
    let prompt = Compat { structured_output: StructuredOutput::Prompt, ..openai() };
    let body = with(ToolChoice::Required, &prompt);
    assert_eq!((&body["tool_choice"], body.get("text")), (&json!("required"), None));
    assert!(body["instructions"].as_str().unwrap().starts_with("Answer with one JSON value"));
    let object =
        Compat { structured_output: StructuredOutput::JsonObject, tools: ToolStyle::Prompted, ..openai() };
    let body = with(ToolChoice::Required, &object);
    assert_eq!(body["text"], json!({"format": {"type": "json_object"}}));
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
}

#[test]
fn image_only_error_result_is_marked() {
    let messages: Vec<Message> =
        vec![user("x"), answer(vec![tool_call("a", "shot", json!({}))]), failed("a", vec![image("QQ==")])];
    let body = body(Responses, &request(messages), &gpt(), &openai());
    assert_eq!(
        body["input"][2]["output"],
        json!([
            {"type": "input_text", "text": "Error: the call failed"},
            {"type": "input_image", "image_url": "data:image/png;base64,QQ==", "detail": "auto"},
        ])
    );
}
