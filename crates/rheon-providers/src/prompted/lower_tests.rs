//! The request that the model really gets.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::{
    AssistantMessage, Content, Message, OutputSchema, Request, StopReason, SystemPrompt, SystemSection,
    Timestamp, ToolCall, ToolChoice, ToolDefinition, ToolResultMessage, Usage,
};
use serde_json::{Value, json};

use super::fixtures::{request, tool, user};
use super::lower::lower;

fn assistant(content: Vec<Content>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        stop_reason: StopReason::ToolUse,
        model: "other".into(),
        provider: "other".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    })
}

fn calling(id: &str, name: &str, arguments: Value) -> Content {
    let arguments = Arc::new(arguments);
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        malformed: None,
        key_order: None,
    })
}

fn result(id: &str, content: Vec<Content>, is_error: bool) -> Message {
    let timestamp = Timestamp::default();
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content,
        is_error,
        timestamp,
    })
}

/// The messages as text, with their roles.
fn conversation(request: &Request) -> String {
    let mut lines = String::new();
    for message in lower(request).0.messages.for_model() {
        let role = match message {
            Message::User(_) => "user",
            Message::Assistant(_) => "assistant",
            Message::ToolResult(_) => "tool",
        };
        lines.push_str(&format!("--- {role}\n"));
        for block in message.content() {
            match block {
                Content::Text { text } => lines.push_str(&format!("{text}\n")),
                other => lines.push_str(&format!("{other:?}\n")),
            }
        }
    }
    lines
}

#[test]
fn calls_become_json_and_results_become_user_text() {
    let thinking = Content::Thinking { thinking: "hm".into(), signature: None };
    let image = Content::Image { data: "QUJD".into(), mime_type: "image/png".into() };
    let request = request([
        user("Look at both."),
        assistant(vec![
            thinking,
            Content::text("I \"look\"."),
            calling("1", "read", json!({ "path": "ä" })),
            calling("2", "read", json!({})),
            calling("3", "list", json!({})),
        ]),
        result("2", vec![], true),
        result("1", vec![Content::text("one\ntwo"), image], false),
        user("Well?"),
        assistant(vec![Content::text("Nothing there.")]),
        user("Thanks."),
    ]);
    expect![[r#"
        --- user
        Look at both.
        --- assistant
        {"answer": "I \"look\"."}
        {"name": "read", "parameters": {"path":"ä"}}
        {"name": "read", "parameters": {}}
        {"name": "list", "parameters": {}}
        --- user
        read failed:
        (no output)

        Result of read:
        one
        two
        Image { data: "QUJD", mime_type: "image/png" }
        list failed:
        The result of this call was lost; it may or may not have run. Check before doing it again.

        Well?
        --- assistant
        {"answer": "Nothing there."}
        --- user
        Thanks.
    "#]]
    .assert_eq(&conversation(&request));
}

#[test]
fn structured_answers_stay_json() {
    let own = OutputSchema { name: "n".into(), schema: json!({ "type": "object" }) };
    let messages = [
        user("go"),
        assistant(vec![Content::text("{\"n\": 1}\n")]),
        user("go on"),
        assistant(vec![Content::text("no JSON")]),
    ];
    let request = Request { output_schema: Some(Arc::new(own)), ..request(messages) };
    expect![[r#"
        --- user
        go
        --- assistant
        {"answer": {"n": 1}}
        --- user
        go on
        --- assistant
        {"answer": "no JSON"}
    "#]]
    .assert_eq(&conversation(&request));
}

#[test]
fn tools_come_after_the_stable_part_of_the_prompt() {
    let section = |text: &str, stable| SystemSection { text: text.into(), stable };
    let system: SystemPrompt =
        [section("You help.", true), section("It is Monday.", false)].into_iter().collect();
    let request = Request { system, tool_choice: ToolChoice::Required, ..request([user("go")]) };
    let (lowered, offered) = lower(&request);
    assert!(lowered.tools.is_empty() && lowered.tool_choice == ToolChoice::Auto);
    assert_eq!(offered, request.tools);
    let stable: Vec<bool> = lowered.system.sections().map(|section| section.stable).collect();
    assert_eq!(stable, [true, true, false]);
    expect![[r#"
        You help.

        # Tools

        You work in steps. In each step you write exactly one JSON object and nothing else. It is one of two things:

        - a tool call: {"name": "<tool>", "parameters": {"<key>": <value>}}
        - your final answer: {"answer": "<text>"}

        After a call, the next message contains its result. Then continue with the next step. Use a tool when you need to read or
        change something; never make up the result of a tool. When the task is done, or no tool helps, give the final answer.

        Example, with a tool that is not yours:

        user: What time is it in Rome?
        you: {"name": "clock", "parameters": {"city":"Rome"}}
        user: Result of clock:
        14:05
        you: {"answer": "It is 14:05 in Rome."}

        Your tools, each with the JSON schema of its arguments:

        ## read
        Does read.
        {"properties":{"lines":{"type":"integer"},"path":{"type":"string"}},"required":["path"],"type":"object"}

        ## list
        Does list.
        {"type":"object"}

        It is Monday."#]].assert_eq(&lowered.system.text());
}

#[test]
fn tool_description_has_a_limit() {
    let schema =
        |words: &str| json!({ "properties": { "description": { "type": "string", "description": words } } });
    let section = |tool: ToolDefinition| {
        let request = Request { tools: Arc::from([tool]), ..request([user("go")]) };
        let text = lower(&request).0.system.text().into_owned();
        text.split_once("## t\n").unwrap().1.to_owned()
    };
    let described = |description: String| ToolDefinition { description, ..tool("t", json!({})) };
    assert_eq!(section(described("ü".repeat(2_000))), format!("{}\n{{}}", "ü".repeat(2_000)));
    assert_eq!(section(described("ü".repeat(2_001))), format!("{} ...\n{{}}", "ü".repeat(2_000)));
    let bare = "Does t.\n{\"properties\":{\"description\":{\"type\":\"string\"}}}";
    assert_eq!(section(tool("t", schema(&"x".repeat(5_000)))), bare);
    assert_eq!(section(tool("t", json!({ "title": "x".repeat(5_000) }))), "Does t.\n{\"type\":\"object\"}");
    // A tool's text is not searched for placeholders.
    assert_eq!(section(described("{{tools}}".into())), "{{tools}}\n{}");
}
