//! Golden requests: conversations in, JSON out.

use std::sync::Arc;

use expect_test::{expect, expect_file};
use rheon_types::{
    CacheConfig, CacheStrategy, Content, OutputSchema, Request, SignatureKind, ThinkingLevel, ToolChoice,
};
use serde_json::{Value, json};

use crate::call_id::CallIdRule;
use crate::catalog::{Model, ThinkingStyle};
use crate::compat::Compat;
use crate::wire::WireKind;
use crate::wire::claude_fixtures::*;

const WIRE: WireKind = WireKind::Anthropic;

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
    expect_file!["../../../tests/golden/anthropic/text.json"].assert_eq(&plain(&request));
}

#[test]
fn system_prompt_sections_with_tools_and_four_marks() {
    let mut request =
        request([user("a"), answer(vec!["b".into()]), user("c"), answer(vec!["d".into()]), user("e")]);
    request.system =
        [section("Rules.", true), section("  \n", true), section("Skills.", true), section("Today.", false)]
            .into_iter()
            .collect();
    request.tools = [tool("read"), tool("write")].into();
    let body = plain(&request);
    assert_eq!(body.matches("cache_control").count(), 4);
    expect_file!["../../../tests/golden/anthropic/system_and_cache.json"].assert_eq(&body);
}

#[test]
fn mark_on_a_blank_section_moves_back() {
    let mut request = request([user("a")]);
    request.system = [section("Rules.", true), section(" ", true)].into_iter().collect();
    expect![[r#"
        [
          {
            "cache_control": {
              "type": "ephemeral"
            },
            "text": "Rules.",
            "type": "text"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", field(&plain(&request), "/system")));
    request.system = [section(" ", true), section("Today.", false)].into_iter().collect();
    expect![[r#"
        [
          {
            "text": "Today.",
            "type": "text"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", field(&plain(&request), "/system")));
    request.system = " ".into();
    assert_eq!(field(&plain(&request), "/system"), Value::Null);
}

#[test]
fn reminder_comes_last_and_after_the_mark() {
    let conversation = [
        user("Read it."),
        answer(vec![call("toolu_1", "read", json!({"path": "a"}))]),
        result("toolu_1", vec!["text".into()], false),
    ];
    let said = |reminder: Option<&str>| {
        let request = Request { reminder: reminder.map(Into::into), ..request(conversation.clone()) };
        field(&plain(&request), "/messages")
    };
    let mut with = said(Some("Mind the goal."));
    let last = with[2]["content"].as_array_mut().unwrap();
    assert_eq!(last.pop(), Some(json!({"type": "text", "text": "Mind the goal."})));
    assert_eq!(last.last().unwrap()["cache_control"], json!({"type": "ephemeral"}));
    // Everything before it is byte for byte the same as without it.
    assert_eq!(with, said(None));
}

#[test]
fn only_selected_parts_are_marked_if_the_service_supports_marks() {
    let manual = CacheStrategy::Manual { cache_system: false, cache_tools: true, cache_messages: false };
    let request = Request {
        system: "s".into(),
        tools: [tool("read")].into(),
        cache: CacheConfig { enabled: true, strategy: manual },
        ..request([user("a")])
    };
    let body = plain(&request);
    assert_eq!(body.matches("cache_control").count(), 1);
    assert_eq!(field(&body, "/tools/0/cache_control"), json!({"type": "ephemeral"}));
    let body = encode_for(WIRE, &request, &model(ThinkingStyle::None), &Compat::default());
    assert_eq!(body.matches("cache_control").count(), 0);
}

#[test]
fn images() {
    let content = vec![
        image(),
        Content::Image { data: "QQ==".into(), mime_type: "image/jpg".into() },
        Content::Image { data: "QQ==".into(), mime_type: "image/svg+xml".into() },
        "What is this?".into(),
    ];
    expect_file!["../../../tests/golden/anthropic/pictures.json"]
        .assert_eq(&plain(&request([user_blocks(content)])));
}

fn parallel_calls() -> Request {
    let mut request = request([
        user("Read both."),
        answer(vec![
            "Reading.".into(),
            call("toolu_1", "read", json!({"path": "a"})),
            call("toolu_2", "read", json!({})),
            call("toolu_3", "read", Value::Null),
        ]),
        result("toolu_2", vec!["cannot read".into(), " ".into()], true),
        result("toolu_1", vec!["a picture".into(), image()], false),
        result("toolu_3", vec![" \n".into()], false),
        user("And now?"),
    ]);
    request.tools = [tool("read")].into();
    request
}

#[test]
fn parallel_calls_with_results_images_and_errors() {
    expect_file!["../../../tests/golden/anthropic/parallel_calls.json"].assert_eq(&plain(&parallel_calls()));
}

/// A response with thinking whose signature comes in pieces, redacted thinking, text and a call.
const THOUGHTFUL: &[(&str, &str)] = &[
    (
        "message_start",
        r#"{"type":"message_start","message":{"model":"claude-test-1","usage":{"input_tokens":9}}}"#,
    ),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me\n"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\"see\" 🦀 "}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq/+Ab\\/"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"\u00fc=="}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Emw/+=\u00e9"}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":1}"#),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_7","name":"read","input":{}}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\""}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":":\"ü\"}"}}"#,
    ),
    ("content_block_stop", r#"{"type":"content_block_stop","index":2}"#),
    (
        "message_delta",
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}"#,
    ),
    ("message_stop", r#"{"type":"message_stop"}"#),
];

#[test]
fn thinking_is_sent_back_byte_for_byte() {
    let answer = drafted(WIRE, THOUGHTFUL);
    let request = Request {
        thinking: ThinkingLevel::Medium,
        ..request([user("Look."), answer, result("toolu_7", vec!["seen".into()], false)])
    };
    let body = encode(WIRE, &request, &model(budget()));
    let thinking = field(&body, "/messages/1/content");
    assert_eq!(
        thinking,
        json!([
            {"type": "thinking", "thinking": "Let me\n\"see\" 🦀 ", "signature": "Eq/+Ab\\/ü=="},
            {"type": "redacted_thinking", "data": "Emw/+=é"},
            {"type": "tool_use", "id": "toolu_7", "name": "read", "input": {"path": "ü"}},
        ])
    );
    expect_file!["../../../tests/golden/anthropic/thinking_replay.json"].assert_eq(&body);
}

#[test]
fn thinking_of_another_model_becomes_text_without_opaque_data() {
    let foreign = vec![
        thinking("I wonder.", "sig", SignatureKind::Proof, "other/model"),
        thinking("", "secret", SignatureKind::Redacted, "other/model"),
        Content::Thinking { thinking: "Unsigned.".into(), signature: None },
        "Yes.".into(),
    ];
    let request = request([user("Is it?"), answer(foreign), user("Sure?")]);
    expect_file!["../../../tests/golden/anthropic/foreign_thinking.json"].assert_eq(&plain(&request));
}

#[test]
fn thinking_only_message_gets_a_text() {
    let thought = answer(vec![thinking("", "sig", SignatureKind::Proof, ORIGIN)]);
    let body = plain(&request([user("a"), thought, user("b")]));
    expect![[r#"
        {
          "content": [
            {
              "signature": "sig",
              "thinking": "",
              "type": "thinking"
            },
            {
              "text": "(no answer)",
              "type": "text"
            }
          ],
          "role": "assistant"
        }"#]]
    .assert_eq(&format!("{:#}", field(&body, "/messages/1")));
}

#[test]
fn foreign_ids_and_names_are_rewritten_in_call_and_result() {
    let request = request([
        user("a"),
        answer(vec![call("call|1.x", "functions.read", json!({"path": "a"})), call("", "read", json!({}))]),
        result("call|1.x", vec!["b".into()], false),
        result("", vec!["c".into()], false),
    ]);
    let body = plain(&request);
    expect_file!["../../../tests/golden/anthropic/rewritten_ids.json"].assert_eq(&body);
    let strict = Compat { call_id: CallIdRule::Alnum9, ..Compat::default() };
    let body = encode_for(WIRE, &request, &model(ThinkingStyle::None), &strict);
    let id = field(&body, "/messages/1/content/0/id");
    assert_eq!(id.as_str().unwrap().len(), 9);
    assert_eq!(id, field(&body, "/messages/2/content/0/tool_use_id"));
}

#[test]
fn call_without_a_result_gets_one() {
    let request = request([user("a"), answer(vec![call("toolu_1", "read", json!({}))]), user("b")]);
    expect![[r#"
        {
          "content": [
            {
              "content": [
                {
                  "text": "The result of this call was lost; it may or may not have run. Check before doing it again.",
                  "type": "text"
                }
              ],
              "is_error": true,
              "tool_use_id": "toolu_1",
              "type": "tool_result"
            },
            {
              "cache_control": {
                "type": "ephemeral"
              },
              "text": "b",
              "type": "text"
            }
          ],
          "role": "user"
        }"#]].assert_eq(&format!("{:#}", field(&plain(&request), "/messages/2")));
}

#[test]
fn every_tool_choice() {
    let chosen = |choice: ToolChoice, tools: usize| {
        let tools = std::iter::repeat_with(|| tool("read")).take(tools).collect();
        let body = plain(&Request { tool_choice: choice, tools, ..request([user("a")]) });
        format!("{}\n", field(&body, "/tool_choice"))
    };
    let choices = [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required, ToolChoice::Tool("read".into())];
    let with_tools: String = choices.clone().map(|choice| chosen(choice, 1)).concat();
    expect![[r#"
        null
        {"type":"none"}
        {"type":"any"}
        {"name":"read","type":"tool"}
    "#]]
    .assert_eq(&with_tools);
    assert_eq!(choices.map(|choice| chosen(choice, 0)).concat(), "null\nnull\nnull\nnull\n");
}

#[test]
fn tool_without_description_or_schema() {
    let mut bare = tool("bare");
    bare.description.clear();
    bare.parameters = Value::Null;
    let mut half = tool("half");
    half.parameters = json!({"properties": {}});
    let request = Request { tools: [bare, half].into(), ..request([user("a")]) };
    expect![[r#"
        [
          {
            "input_schema": {
              "properties": {},
              "type": "object"
            },
            "name": "bare"
          },
          {
            "cache_control": {
              "type": "ephemeral"
            },
            "description": "The tool half.",
            "input_schema": {
              "properties": {},
              "type": "object"
            },
            "name": "half"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", field(&plain(&request), "/tools")));
}

#[test]
fn output_schema() {
    let schema =
        json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "additionalProperties": false});
    let request = Request {
        output_schema: Some(Arc::new(OutputSchema { name: "verdict".into(), schema })),
        thinking: ThinkingLevel::High,
        ..request([user("Is it good?")])
    };
    let levels = ThinkingStyle::Levels(vec![ThinkingLevel::Low, ThinkingLevel::High]);
    expect_file!["../../../tests/golden/anthropic/schema.json"].assert_eq(&encode(
        WIRE,
        &request,
        &model(levels),
    ));
}

#[test]
fn every_thinking_style() {
    use ThinkingLevel::{High, Low, Max, Off};
    let styles = [
        budget(),
        ThinkingStyle::Levels(vec![Off, Low, High, Max]),
        ThinkingStyle::Toggle,
        ThinkingStyle::Always,
        ThinkingStyle::None,
    ];
    let mut text = String::new();
    for style in styles {
        for thinking in [Off, Low, Max] {
            let request = Request { thinking, temperature: Some(0.5), ..request([user("a")]) };
            let body = encode(WIRE, &request, &model(style.clone()));
            let fields = ["/max_tokens", "/thinking", "/output_config", "/temperature"];
            let [limit, thinks, output, temperature] = fields.map(|pointer| field(&body, pointer));
            text.push_str(&format!("{thinking:?}: {limit} {thinks} {output} {temperature}\n"));
        }
    }
    expect![[r#"
        Off: 32000 null null 0.5
        Low: 36096 {"budget_tokens":4096,"type":"enabled"} null null
        Max: 64000 {"budget_tokens":32768,"type":"enabled"} null null
        Off: 32000 {"type":"disabled"} null null
        Low: 32000 {"display":"summarized","type":"adaptive"} {"effort":"low"} null
        Max: 32000 {"display":"summarized","type":"adaptive"} {"effort":"max"} null
        Off: 32000 {"type":"disabled"} null 0.5
        Low: 36096 {"budget_tokens":4096,"type":"enabled"} null null
        Max: 64000 {"budget_tokens":32768,"type":"enabled"} null null
        Off: 32000 null null null
        Low: 32000 null null null
        Max: 32000 null null null
        Off: 32000 null null 0.5
        Low: 32000 null null 0.5
        Max: 32000 null null 0.5
    "#]]
    .assert_eq(&text);
}

#[test]
fn blank_text_is_omitted_and_a_blank_message_gets_a_placeholder() {
    let request = request([
        user_blocks(vec![" \n".into(), "a".into()]),
        answer(vec!["\t".into()]),
        user(" "),
        answer(vec!["b".into(), " ".into(), call("toolu_1", "read", json!({}))]),
        result("toolu_1", Vec::new(), false),
    ]);
    expect_file!["../../../tests/golden/anthropic/blank.json"].assert_eq(&plain(&request));
}

#[test]
fn last_assistant_message_is_continued_or_followed_by_a_user_message() {
    let open = || request([user("a"), answer(vec!["The answer is: \n".into(), " ".into()])]);
    expect![[r#"{"content":[{"text":"The answer is:","type":"text"}],"role":"assistant"}"#]]
        .assert_eq(&field(&plain(&open()), "/messages/1").to_string());
    assert_eq!(field(&plain(&open()), "/messages/2"), Value::Null);
    let levels = model(ThinkingStyle::Levels(vec![ThinkingLevel::Low]));
    expect![[r#"{"content":"Continue.","role":"user"}"#]]
        .assert_eq(&field(&encode(WIRE, &open(), &levels), "/messages/2").to_string());
}

#[test]
fn thinking_only_last_message_is_not_continued() {
    let thought = answer(vec![thinking("", "sig", SignatureKind::Proof, ORIGIN)]);
    expect![[r#"{"content":"Continue.","role":"user"}"#]]
        .assert_eq(&field(&plain(&request([user("a"), thought])), "/messages/2").to_string());
}

#[test]
fn empty_conversation_is_an_error_and_one_starting_with_the_assistant_is_opened() {
    expect![[r#"
        InvalidRequest: the conversation has no message to send; add a user message first
    "#]]
    .assert_eq(&plain(&request([])));
    let body = plain(&request([answer(vec!["a".into()]), user("b")]));
    expect![[r#""(the conversation continues)""#]]
        .assert_eq(&field(&body, "/messages/0/content/0/text").to_string());
}

#[test]
fn model_without_vision_gets_a_note() {
    let seeing = model(ThinkingStyle::None);
    let info = rheon_types::ModelInfo { images: false, ..(*seeing.info).clone() };
    let blind = Model { info: Arc::new(info), ..seeing };
    let body = encode(WIRE, &request([user_blocks(vec![image()])]), &blind);
    expect![[r#""(an image was here; this model cannot see images)""#]]
        .assert_eq(&field(&body, "/messages/0/content/0/text").to_string());
}
