//! A conversation from elsewhere keeps the order of a log, whatever it looks like.

use expect_test::expect;
use rheon_testkit::Trace;
use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, Content, Message, RunEvent, StopReason, Timestamp, ToolCall,
    ToolResultMessage, Usage,
};
use serde_json::json;

use super::{ImportPosition, Origin, TranscriptMessage, events};

fn answer(content: Vec<Content>, stop_reason: StopReason) -> AgentMessage {
    let answer = AssistantMessage {
        content,
        stop_reason,
        model: "claude-test".into(),
        provider: "anthropic".into(),
        usage: Usage { input: 5, output: 5, total_tokens: 10, ..Usage::default() },
        timestamp: Timestamp::default(),
        error_message: None,
    };
    Message::Assistant(answer).into()
}

fn call(id: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "Read".into(),
        arguments: json!({"path": "x"}).into(),
        malformed: None,
        key_order: None,
    })
}

fn result(id: &str) -> AgentMessage {
    let result = ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "Read".into(),
        content: vec![Content::text(format!("result of {id}"))],
        is_error: false,
        timestamp: Timestamp::default(),
    };
    Message::ToolResult(result).into()
}

fn user(text: &str) -> AgentMessage {
    Message::user(text, Timestamp::default()).into()
}

fn imported(messages: Vec<AgentMessage>) -> String {
    let origin =
        Origin { session: "theirs".into(), path: "/t.jsonl".into(), model: Some("claude-test".into()) };
    let trace = Trace::new();
    let position = ImportPosition { seq: 0, runs: 0, at: Timestamp::default() };
    let named = |(place, message)| TranscriptMessage { message, uuids: vec![format!("e{place}")] };
    let messages = messages.into_iter().enumerate().map(named).collect();
    for event in events(&"ours".into(), position, &origin, messages) {
        if let AgentEvent::Run(RunEvent::Start { metadata, .. }) = &event.kind {
            let from = &metadata.as_deref().unwrap()["importedFrom"];
            let link = [&from["program"], &from["session"], &from["path"]].map(|it| it.as_str().unwrap());
            assert_eq!(link, ["claude-code", "theirs", "/t.jsonl"]);
            assert!(from["entries"].is_array());
        }
        trace.observe(&event);
    }
    trace.assert_order();
    trace.durable_text()
}

#[test]
fn calls_side_by_side_are_answered_in_their_order() {
    expect![[r#"
        agent.start claude-test
        turn.start 0 User
        message.start user
        message.end user "go"
        llm.start claude-test
        message.start assistant
        message.end assistant ToolUse [Read t1 {"path":"x"}] [Read t2 {"path":"x"}]
        llm.end ToolUse
        tool.start Read t1 {"path":"x"}
        tool.end Read t1 ok "result of t1"
        tool.start Read t2 {"path":"x"}
        tool.end Read t2 ok "result of t2"
        message.start toolResult
        message.end toolResult t1 "result of t1"
        message.start toolResult
        message.end toolResult t2 "result of t2"
        turn.end 0 results=2 tokens=0
        turn.start 1 Continuation
        llm.start claude-test
        message.start assistant
        message.end assistant Stop "Done."
        llm.end Stop
        turn.end 1 results=0 tokens=0
        agent.end completed "Done.""#]]
    .assert_eq(&imported(vec![
        user("go"),
        answer(vec![call("t1"), call("t2")], StopReason::ToolUse),
        result("t2"),
        result("t1"),
        answer(vec!["Done.".into()], StopReason::Stop),
    ]));
}

#[test]
fn an_odd_conversation_keeps_the_order_too() {
    expect![[r#"
        agent.start claude-test
        turn.start 0 Continuation
        llm.start claude-test
        message.start assistant
        message.end assistant Stop "Hello."
        llm.end Stop
        turn.end 0 results=0 tokens=0
        turn.start 1 User
        message.start user
        message.end user "one"
        message.start user
        message.end user "two"
        llm.start claude-test
        message.start assistant
        message.end assistant Error [Read t1 {"path":"x"}]
        llm.end Error
        turn.end 1 results=0 tokens=0
        turn.start 2 Continuation
        llm.start claude-test
        message.start assistant
        message.end assistant ToolUse [Read t2 {"path":"x"}] [Read t3 {"path":"x"}]
        llm.end ToolUse
        tool.start Read t2 {"path":"x"}
        tool.end Read t2 error "The session ended before the result of this call was recorded, so its outcome is unknown."
        tool.start Read t3 {"path":"x"}
        tool.end Read t3 ok "result of t3"
        message.start toolResult
        message.end toolResult t2 error "The session ended before the result of this call was recorded, so its outcome is unknown."
        message.start toolResult
        message.end toolResult t3 "result of t3"
        turn.end 2 results=2 tokens=0
        turn.start 3 User
        message.start user
        message.end user "three"
        turn.end 3 results=0 tokens=0
        agent.end completed """#]].assert_eq(&imported(vec![
        result("lost"),
        answer(vec!["Hello.".into()], StopReason::Stop),
        user("one"),
        user("two"),
        answer(vec![call("t1")], StopReason::Error),
        answer(vec![call("t2"), call("t3")], StopReason::ToolUse),
        result("t3"),
        user("three"),
    ]));
    expect![[r#"
        agent.start claude-test
        agent.end completed """#]]
    .assert_eq(&imported(Vec::new()));
}
