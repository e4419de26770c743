//! Conditions match the requests they describe, and their messages say what they need.

use std::sync::Arc;

use rheon_types::{
    AgentMessage, AssistantMessage, Content, ExtensionMessage, History, Message, StopReason, Timestamp,
    ToolResultMessage, Usage,
};
use serde_json::Value;

use super::choose::{Condition, NoMatchingTurn, UnusedEntry, last_text, last_tool_result};

fn user(text: &str) -> AgentMessage {
    AgentMessage::user(text, Timestamp::from_millis(0))
}

fn assistant(text: &str, stop_reason: StopReason) -> AgentMessage {
    AgentMessage::from(Message::Assistant(AssistantMessage {
        content: vec![Content::text(text)],
        stop_reason,
        model: "m".into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp: Timestamp::from_millis(0),
        error_message: None,
    }))
}

fn result(tool: &str, text: &str, is_error: bool) -> AgentMessage {
    AgentMessage::from(Message::ToolResult(ToolResultMessage {
        tool_call_id: "id".into(),
        tool_name: tool.into(),
        content: vec![Content::text(text)],
        is_error,
        timestamp: Timestamp::from_millis(0),
    }))
}

fn history(messages: impl IntoIterator<Item = AgentMessage>) -> History {
    messages.into_iter().map(Arc::new).collect()
}

fn on_result(tool: Option<&str>, contains: Option<&str>, is_error: Option<bool>) -> Condition {
    Condition {
        tool: tool.map(Into::into),
        tool_result_contains: contains.map(Into::into),
        tool_result_is_error: is_error,
        ..Condition::default()
    }
}

#[test]
fn empty_condition_always_holds() {
    assert!(Condition::default().holds(1, &History::new()));
}

#[test]
fn request_numbers_start_at_one() {
    let second = Condition { request: Some(2), ..Condition::default() };
    assert_eq!([1, 2, 3].map(|number| second.holds(number, &History::new())), [false, true, false]);
}

#[test]
fn last_message_is_the_last_one_the_model_sees() {
    let note = AgentMessage::Extension(ExtensionMessage { kind: "note".into(), data: Value::Null });
    let messages = history([
        user("go"),
        result("t", "found", false),
        user("now"),
        assistant("x", StopReason::Error),
        note,
    ]);
    let conditions = |part: &str| Condition { last_text_contains: Some(part.into()), ..Condition::default() };
    assert!(conditions("no").holds(1, &messages));
    assert!(!conditions("go").holds(1, &messages));
    assert!(!conditions("x").holds(1, &messages));
    assert!(!conditions("no").holds(1, &History::new()));
    assert_eq!((last_text(&messages).as_str(), last_tool_result(&messages).as_str()), ("now", "found"));
    assert_eq!((last_text(&History::new()).as_str(), last_tool_result(&History::new()).as_str()), ("", ""));
}

#[test]
fn one_trailing_result_must_match_all_result_conditions() {
    let messages = history([
        result("old", "earlier", false),
        assistant("", StopReason::ToolUse),
        result("read", "42", false),
        result("bash", "boom", true),
    ]);
    for (condition, holds) in [
        (on_result(Some("read"), None, None), true),
        (on_result(Some("bash"), Some("oo"), Some(true)), true),
        (on_result(None, Some("42"), Some(false)), true),
        (on_result(Some("read"), Some("boom"), None), false),
        (on_result(None, Some("42"), Some(true)), false),
        (on_result(Some("old"), None, None), false),
    ] {
        assert_eq!(condition.holds(1, &messages), holds, "{condition}");
    }
    assert!(!on_result(None, None, Some(false)).holds(1, &history([result("t", "", false), user("x")])));
}

#[test]
fn condition_describes_itself() {
    let all = Condition {
        last_text_contains: Some("a\nb".into()),
        request: Some(2),
        ..on_result(Some("read"), Some("42"), Some(true))
    };
    assert_eq!(
        all.to_string(),
        r#"request 2 and a last message with "a\nb" and a failed tool result of "read" with "42""#
    );
    assert_eq!(on_result(None, None, Some(false)).to_string(), "a successful tool result");
    assert_eq!(on_result(Some("t"), None, None).to_string(), r#"a tool result of "t""#);
    assert_eq!(Condition::default().to_string(), "any request");
}

#[test]
fn no_turn_message_is_bounded() {
    let condition = Condition { request: Some(9), ..Condition::default() };
    let unused = (1..=7).map(|position| (position, UnusedEntry::Turn(&condition))).collect();
    let last_text = "ä".repeat(1_000);
    let message =
        NoMatchingTurn { scenario: Some("demo"), number: 8, entries: 9, unused, last_text }.to_string();
    assert_eq!(
        message,
        format!(
            "scenario \"demo\" has no turn for request 8: 7 of 9 turns are unused; turn 1 needs request 9; turn 2 \
             needs request 9; turn 3 needs request 9; turn 4 needs request 9; turn 5 needs request 9; and 2 more; \
             the last message starts with \"{}\"...; add a matching turn",
            "ä".repeat(80)
        )
    );
}
