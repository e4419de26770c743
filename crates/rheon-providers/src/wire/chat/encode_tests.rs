//! Chat requests: golden files, every flag, and thinking that is sent back unchanged.

use std::sync::Arc;

use rheon_types::{
    CacheConfig, CacheStrategy, Content, OutputSchema, Request, SystemSection, ThinkingLevel, ToolChoice,
};
use serde_json::{Value, json};

use crate::call_id::CallIdRule;
use crate::catalog::{Model, ThinkingStyle};
use crate::compat::{
    CacheStyle, Compat, StructuredOutput, SystemRole, ThinkingReplay, ThinkingRequest, TokensField, ToolStyle,
};
use crate::wire::WireKind::Chat;
use crate::wire::openai_fixtures::*;

fn plain() -> Model {
    model(ThinkingStyle::None)
}

fn levels(levels: &[ThinkingLevel]) -> Model {
    model(ThinkingStyle::Levels(levels.to_vec()))
}

fn openai() -> Compat {
    Compat {
        tokens_field: TokensField::MaxCompletionTokens,
        system_role: SystemRole::Developer,
        call_id: CallIdRule::Word40,
        cache: CacheStyle::Key,
        store_false: true,
        ..Compat::default()
    }
}

fn schema() -> Option<Arc<OutputSchema>> {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    Some(Arc::new(OutputSchema { name: "number".into(), schema }))
}

fn sections() -> rheon_types::SystemPrompt {
    let section = |text: &str, stable| SystemSection { text: text.into(), stable };
    [section("You help.", true), section("Rules.", true), section("Today.", false)].into_iter().collect()
}

#[test]
fn text_with_common_limits() {
    let request = Request {
        system: sections(),
        tokens_max: Some(4096),
        temperature: Some(0.7),
        cache_key: Some("session-1".into()),
        ..request([
            user("hi"),
            answer(vec![Content::text("hello"), Content::text("again")]),
            user("grüße 🦀"),
        ])
    };
    golden(Chat, "text", &request, &plain(), &Compat::default());
}

#[test]
fn openai_with_tools_cache_key_and_rewritten_ids() {
    let request = Request {
        system: "You help.".into(),
        tools: Arc::from([tool("read"), tool("list")]),
        tool_choice: ToolChoice::Tool("read".into()),
        tokens_max: Some(9),
        temperature: Some(0.5),
        thinking: ThinkingLevel::Max,
        cache_key: Some("session-1".into()),
        ..request(with_tools())
    };
    let model = levels(&[ThinkingLevel::Off, ThinkingLevel::Low, ThinkingLevel::High]);
    golden(Chat, "openai", &request, &model, &openai());
}

#[test]
fn images_of_users_and_results() {
    let request = request([
        user_with(vec![Content::text("what is this?"), image("QUJD")]),
        answer(vec![tool_call("a", "shot", json!({})), tool_call("b", "shot", json!({}))]),
        result("a", vec![image("QQ=="), image("Qg==")]),
        failed("b", vec![image("Qw==")]),
        answer(vec![Content::text("A cat.")]),
    ]);
    golden(Chat, "pictures", &request, &plain(), &Compat::default());
}

#[test]
fn results_with_names_and_assistant_in_between() {
    let compat = Compat {
        tool_result_name: true,
        assistant_after_tool_result: true,
        call_id: CallIdRule::Alnum9,
        stream_usage: false,
        ..Compat::default()
    };
    let mut messages = with_tools();
    messages.extend([
        answer(vec![tool_call("c", "read", json!({}))]),
        failed("c", vec![Content::text("Error: gone")]),
        user("and?"),
    ]);
    golden(Chat, "strict", &request(messages), &plain(), &compat);
}

#[test]
fn cache_marks_on_tools_system_and_last_two_turns() {
    let compat = Compat {
        cache: CacheStyle::Marks,
        structured_output: StructuredOutput::JsonObject,
        ..Compat::default()
    };
    let request = Request {
        system: sections(),
        tools: Arc::from([tool("read"), tool("list")]),
        output_schema: schema(),
        ..request([
            user("one"),
            user_with(vec![Content::text("two"), image("QQ==")]),
            answer(vec![tool_call("a", "read", json!({})), tool_call("b", "read", json!({}))]),
            result("a", vec![Content::text("A")]),
            failed("b", vec![Content::text("B")]),
        ])
    };
    golden(Chat, "marks", &request, &plain(), &compat);
    let marks = encoded(Chat, &request, &plain(), &compat).matches("cache_control").count();
    assert_eq!(marks, 4);
}

#[test]
fn missing_result_is_added_and_arguments_are_always_an_object() {
    let request = request([
        user("x"),
        answer(vec![
            tool_call("a", "read", Value::Null),
            tool_call("b", "read", json!({"n": [1.5, "ü\u{1}"]})),
        ]),
        result("b", vec![]),
    ]);
    let body = body(Chat, &request, &plain(), &Compat::default());
    let [_, answer, lost, empty] = body["messages"].as_array().unwrap().as_slice() else {
        panic!("{body}");
    };
    assert_eq!(answer["content"], Value::Null);
    assert_eq!(answer["tool_calls"][0]["function"]["arguments"], "{}");
    let arguments = answer["tool_calls"][1]["function"]["arguments"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(arguments).unwrap(), json!({"n": [1.5, "ü\u{1}"]}));
    let contents = [&lost["content"], &empty["content"]].map(|content| content.as_str().unwrap().to_owned());
    assert!(contents.iter().any(|text| text.starts_with("Error: The result of this call was lost")));
    assert!(contents.iter().any(|text| text == "(no output)"));
}

/// The fields of a request that concern thinking.
fn thinking_fields(style: &ThinkingStyle, how: ThinkingRequest, level: ThinkingLevel) -> String {
    let compat = Compat { thinking: how, ..Compat::default() };
    let request = Request { thinking: level, ..request([user("x")]) };
    let mut body = body(Chat, &request, &model(style.clone()), &compat);
    let fields = body.as_object_mut().unwrap();
    for known in ["model", "messages", "stream", "stream_options"] {
        fields.remove(known);
    }
    body.to_string()
}

#[test]
fn thinking_is_requested_in_each_services_format() {
    use ThinkingLevel::*;
    use ThinkingRequest as How;
    let gpt = ThinkingStyle::Levels(vec![Minimal, Low, Medium, High]);
    let o3 = ThinkingStyle::Levels(vec![Low, Medium, High]);
    let new = ThinkingStyle::Levels(vec![Off, Low, High, Max]);
    let budget = ThinkingStyle::Budget { min: 2_000, max: 20_000, can_disable: true };
    let fixed = ThinkingStyle::Budget { min: 128, max: 20_000, can_disable: false };
    let cases = [
        (&gpt, How::Effort, Off, r#"{"reasoning_effort":"minimal"}"#),
        (&gpt, How::Effort, Max, r#"{"reasoning_effort":"high"}"#),
        (&o3, How::Effort, Off, "{}"),
        (&o3, How::Effort, Minimal, r#"{"reasoning_effort":"low"}"#),
        (&new, How::Effort, Off, r#"{"reasoning_effort":"none"}"#),
        (&new, How::Effort, Medium, r#"{"reasoning_effort":"low"}"#),
        (&new, How::Effort, Max, r#"{"reasoning_effort":"xhigh"}"#),
        (&budget, How::Effort, Max, r#"{"reasoning_effort":"high"}"#),
        (&ThinkingStyle::Toggle, How::Effort, Off, r#"{"reasoning_effort":"none"}"#),
        (&ThinkingStyle::Toggle, How::Effort, High, "{}"),
        (&gpt, How::None, High, "{}"),
        (&ThinkingStyle::None, How::Effort, High, "{}"),
        (&ThinkingStyle::Always, How::ThinkingType, Off, "{}"),
        (&new, How::ReasoningObject, Off, r#"{"reasoning":{"effort":"none"}}"#),
        (&new, How::ReasoningObject, High, r#"{"reasoning":{"effort":"high"}}"#),
        (&budget, How::ReasoningObject, Minimal, r#"{"reasoning":{"max_tokens":2000}}"#),
        (&budget, How::ReasoningObject, Max, r#"{"reasoning":{"max_tokens":20000}}"#),
        (&fixed, How::ReasoningObject, Off, "{}"),
        (&ThinkingStyle::Toggle, How::ReasoningObject, Low, r#"{"reasoning":{"enabled":true}}"#),
        (&ThinkingStyle::Toggle, How::ThinkingType, Low, r#"{"thinking":{"type":"enabled"}}"#),
        (&ThinkingStyle::Toggle, How::ThinkingType, Off, r#"{"thinking":{"type":"disabled"}}"#),
        (&new, How::ThinkingType, High, r#"{"reasoning_effort":"high","thinking":{"type":"enabled"}}"#),
        (&ThinkingStyle::Toggle, How::EnableThinking, Off, r#"{"enable_thinking":false}"#),
        (&budget, How::EnableThinking, Low, r#"{"enable_thinking":true,"thinking_budget":4096}"#),
        (
            &ThinkingStyle::Toggle,
            How::TemplateKwargs,
            Off,
            r#"{"chat_template_kwargs":{"enable_thinking":false}}"#,
        ),
        (
            &o3,
            How::TemplateKwargs,
            High,
            r#"{"chat_template_kwargs":{"enable_thinking":true,"reasoning_effort":"high"}}"#,
        ),
    ];
    for (style, how, level, expected) in cases {
        let fields: Value = serde_json::from_str(&thinking_fields(style, how, level)).unwrap();
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(fields, expected, "{style:?} {how:?} {level:?}");
    }
}

#[test]
fn budget_leaves_room_for_the_response_but_respects_the_minimum() {
    let model = model(ThinkingStyle::Budget { min: 1_024, max: 30_000, can_disable: true });
    let compat = Compat { thinking: ThinkingRequest::ReasoningObject, ..Compat::default() };
    for (tokens_max, budget) in [(8_192, 7_168), (1_500, 1_024), (100_000, 30_000)] {
        let request =
            Request { thinking: ThinkingLevel::High, tokens_max: Some(tokens_max), ..request([user("x")]) };
        assert_eq!(body(Chat, &request, &model, &compat)["reasoning"]["max_tokens"], json!(budget));
    }
}

#[test]
fn unknown_model_gets_the_temperature_unless_it_thinks() {
    let known = levels(&[ThinkingLevel::Low, ThinkingLevel::High]);
    let info = Arc::new(rheon_types::ModelInfo::unknown("m-1"));
    let unknown = Model { info, ..known };
    let sent = |thinking| {
        let request = Request { thinking, temperature: Some(0.0), ..request([user("x")]) };
        body(Chat, &request, &unknown, &Compat::default()).get("temperature").cloned()
    };
    assert_eq!((sent(ThinkingLevel::Off), sent(ThinkingLevel::High)), (Some(json!(0.0)), None));
}

#[test]
fn models_with_levels_get_no_temperature_while_thinking() {
    let cases = [
        (levels(&[ThinkingLevel::Off, ThinkingLevel::High]), ThinkingLevel::Off, true),
        (levels(&[ThinkingLevel::Off, ThinkingLevel::High]), ThinkingLevel::Low, false),
        (levels(&[ThinkingLevel::Low]), ThinkingLevel::Off, false),
        (model(ThinkingStyle::Toggle), ThinkingLevel::High, true),
        (plain(), ThinkingLevel::High, true),
    ];
    for (model, thinking, sent) in cases {
        let mut request = Request { thinking, temperature: Some(1.5), ..request([user("x")]) };
        let sends =
            |request: &Request| body(Chat, request, &model, &Compat::default()).get("temperature").is_some();
        assert_eq!(sends(&request), sent, "{model:?} {thinking:?}");
        request.temperature = Some(f32::NAN);
        assert!(!sends(&request));
    }
}

#[test]
fn structured_output_by_format_or_prompt() {
    let request = Request { output_schema: schema(), ..request([user("x")]) };
    let with = |structured_output| {
        let body = body(Chat, &request, &plain(), &Compat { structured_output, ..Compat::default() });
        (body["response_format"].clone(), body["messages"][0]["role"].clone(), body)
    };
    golden(Chat, "schema", &request, &plain(), &Compat::default());
    let (format, role, _) = with(StructuredOutput::JsonSchema);
    assert_eq!((format["type"].clone(), role), (json!("json_schema"), json!("user")));
    let (format, role, body) = with(StructuredOutput::JsonObject);
    assert_eq!((format, role), (json!({"type": "json_object"}), json!("system")));
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Answer with one JSON value") && system.contains("\"required\":[\"n\"]"));
    let (format, role, _) = with(StructuredOutput::Prompt);
    assert_eq!((format, role), (Value::Null, json!("system")));
}

#[test]
fn prompted_tools_are_not_sent_and_choices_need_tools() {
    let mut request = Request {
        tools: Arc::from([tool("read")]),
        tool_choice: ToolChoice::Required,
        ..request([user("x")])
    };
    let choice = |request: &Request, tools| {
        let body = body(Chat, request, &plain(), &Compat { tools, ..Compat::default() });
        (body.get("tools").is_some(), body.get("tool_choice").cloned())
    };
    assert_eq!(choice(&request, ToolStyle::Native), (true, Some(json!("required"))));
    assert_eq!(choice(&request, ToolStyle::Prompted), (false, None));
    request.tool_choice = ToolChoice::None;
    assert_eq!(choice(&request, ToolStyle::Lenient), (true, Some(json!("none"))));
    request.tool_choice = ToolChoice::Auto;
    assert_eq!(choice(&request, ToolStyle::Native), (true, None));
    request.tools = Arc::from([]);
    request.tool_choice = ToolChoice::Required;
    assert_eq!(choice(&request, ToolStyle::Native), (false, None));
}

#[test]
fn cache_key_is_sent_only_if_caching_is_enabled() {
    let mut request = Request { cache_key: Some("k".repeat(65).into()), ..request([user("x")]) };
    let key = |request: &Request| body(Chat, request, &plain(), &openai()).get("prompt_cache_key").cloned();
    assert!(key(&request).is_some_and(|key| key.as_str().unwrap().len() <= 64));
    request.cache_key = Some("k".into());
    assert_eq!(key(&request), Some(json!("k")));
    request.cache = CacheConfig { enabled: false, strategy: CacheStrategy::Auto };
    assert_eq!(key(&request), None);
    request.cache = CacheConfig { enabled: true, strategy: CacheStrategy::Disabled };
    assert_eq!(key(&request), None);
}

#[test]
fn thinking_is_sent_back_in_each_services_format() {
    let messages = [
        user("x"),
        answer(vec![
            thinking("mine", None, ORIGIN),
            thinking("signed", Some((r#"[{"type":"reasoning.text", "text":"signed"}]"#, None)), ORIGIN),
            Content::text("said"),
            thinking("", Some((r#"[{"data":"é\u00e9","type":"reasoning.encrypted"}]"#, None)), ORIGIN),
            tool_call("a", "read", json!({})),
        ]),
        result("a", vec![Content::text("A")]),
        answer(vec![thinking("alone", None, ORIGIN)]),
    ];
    let with = |thinking_replay| {
        let compat = Compat { thinking_replay, ..Compat::default() };
        encoded(Chat, &request(messages.clone()), &plain(), &compat)
    };
    assert!(!with(ThinkingReplay::None).contains("mine"));
    let content = with(ThinkingReplay::ReasoningContent);
    assert!(
        content.contains(r#""content":"said","reasoning_content":"mine\n\nsigned","tool_calls""#),
        "{content}"
    );
    assert!(
        content.contains(r#"{"role":"assistant","content":"","reasoning_content":"alone"}"#),
        "{content}"
    );
    assert!(with(ThinkingReplay::Reasoning).contains(r#""reasoning":"mine\n\nsigned""#));
    let details = with(ThinkingReplay::ReasoningDetails);
    let both = r#""reasoning_details":[{"type":"reasoning.text", "text":"signed"},{"data":"é\u00e9","type":"reasoning.encrypted"}]"#;
    assert!(details.contains(both), "{details}");
    assert!(details.contains(r#"{"role":"assistant","content":"","reasoning":"alone"}"#), "{details}");
}

#[test]
fn thinking_of_another_service_becomes_text_without_its_signature() {
    let request = request([user("x"), answer(vec![thinking("theirs", Some(("SECRET", None)), "other/m")])]);
    let mut message = request.messages.get(1).unwrap().as_assistant().unwrap().clone();
    message.provider = "other".into();
    let request =
        Request { messages: history([user("x"), rheon_types::Message::Assistant(message)]), ..request };
    for thinking_replay in
        [ThinkingReplay::None, ThinkingReplay::ReasoningContent, ThinkingReplay::ReasoningDetails]
    {
        let body = encoded(Chat, &request, &plain(), &Compat { thinking_replay, ..Compat::default() });
        assert!(body.contains(r#""content":"<thinking>\ntheirs\n</thinking>""#), "{body}");
        assert!(!body.contains("SECRET"), "{body}");
    }
}

#[test]
fn images_become_a_note_for_a_text_model() {
    let blind = rheon_types::ModelInfo { images: false, ..rheon_types::ModelInfo::unknown("m") };
    let model = Model { info: Arc::new(blind), thinking: ThinkingStyle::None, tool_style: None };
    let request = request([user_with(vec![image("QUJD")])]);
    let body = body(Chat, &request, &model, &Compat::default());
    assert_eq!(body["messages"][0]["content"], "(an image was here; this model cannot see images)");
}
