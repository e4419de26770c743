//! Small messages for the tests of this crate.

use std::sync::Arc;

use serde_json::json;

use crate::*;

pub(crate) fn user(text: &str) -> Arc<AgentMessage> {
    Arc::new(AgentMessage::user(text, Timestamp::default()))
}

/// An answer that calls the tool `t` with these ids.
pub(crate) fn answer(calls: &[&str], stop_reason: StopReason) -> Arc<AgentMessage> {
    let call = |id: &&str| {
        let arguments = Arc::new(json!({}));
        Content::ToolCall(ToolCall {
            id: (*id).into(),
            name: "t".into(),
            arguments,
            malformed: None,
            key_order: None,
        })
    };
    let message = Message::Assistant(AssistantMessage {
        content: calls.iter().map(call).collect(),
        stop_reason,
        model: String::new(),
        provider: String::new(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    });
    Arc::new(message.into())
}

pub(crate) fn result(id: &str) -> Arc<AgentMessage> {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "t".into(),
        content: Vec::new(),
        is_error: false,
        timestamp: Timestamp::default(),
    });
    Arc::new(message.into())
}
