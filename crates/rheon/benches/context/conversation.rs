//! Conversations as coding agents have them: a task, then calls and their results.

use std::fmt::Write as _;
use std::sync::Arc;

use rheon::types::{
    AgentMessage, AssistantMessage, Content, History, Message, StopReason, Timestamp, ToolCall,
    ToolResultMessage, Usage,
};
use serde_json::json;

/// The tool that is called.
pub(crate) const TOOL: &str = "look";

/// A conversation of `messages` messages, whose results have about `result_bytes` bytes each.
pub(crate) fn conversation(messages: usize, result_bytes: usize) -> History {
    (0..messages).map(|place| Arc::new(message(place, result_bytes))).collect()
}

/// A conversation of at least so many tokens, as `count` has it.
pub(crate) fn of_tokens(
    tokens_min: u64,
    result_bytes: usize,
    count: impl Fn(&AgentMessage) -> u64,
) -> History {
    let mut history = History::new();
    let mut tokens = 0;
    // Never ends with a call.
    while tokens < tokens_min || history.len().is_multiple_of(2) {
        let message = Arc::new(message(history.len(), result_bytes));
        tokens += count(&message);
        history.push(message);
    }
    history
}

fn message(place: usize, result_bytes: usize) -> AgentMessage {
    match place {
        0 => AgentMessage::user(
            "Rename Parcel to Packet in every module, and keep the tests green.",
            Timestamp::default(),
        ),
        place if place.is_multiple_of(2) => result(place - 1, result_bytes).into(),
        place => call(place).into(),
    }
}

fn call(place: usize) -> Message {
    let call = ToolCall {
        id: format!("call_{place}").into(),
        name: TOOL.into(),
        arguments: Arc::new(json!({ "path": format!("src/module_{place}.rs") })),
        malformed: None,
        key_order: None,
    };
    Message::Assistant(AssistantMessage {
        content: vec![Content::text("I look at the next module."), Content::ToolCall(call)],
        stop_reason: StopReason::ToolUse,
        model: "scripted".into(),
        provider: "scripted".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    })
}

fn result(place: usize, bytes: usize) -> Message {
    let mut text = String::new();
    let mut line = 0;
    while text.len() < bytes {
        line += 1;
        // Writing to a string cannot fail.
        writeln!(text, "{line:>5}  let parcel_{place} = Parcel::new(\"{line}\", weight); // {place}").ok();
    }
    Message::ToolResult(ToolResultMessage {
        tool_call_id: format!("call_{place}").into(),
        tool_name: TOOL.into(),
        content: vec![Content::text(text)],
        is_error: false,
        timestamp: Timestamp::default(),
    })
}
