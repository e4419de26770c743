//! Conversations of any length: user messages, tool calls and results.

use std::sync::Arc;

use rheon_types::{
    AgentMessage, AssistantMessage, Content, Message, Request, StopReason, SystemPrompt, Timestamp, ToolCall,
    ToolDefinition, ToolResultMessage, Usage,
};
use serde_json::json;

/// A request to `model` of `vendor` with this many messages.
pub(crate) fn request(vendor: &str, model: &str, messages: usize) -> Request {
    let messages = (0..messages).map(|number| Arc::new(message(vendor, model, number).into())).collect();
    let tools = ["read", "grep", "edit", "bash"].map(|name| ToolDefinition {
        name: name.into(),
        description: format!("{name}: works on files below the working directory, and says what it did."),
        parameters: json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
            "required": ["path"],
        }),
    });
    Request {
        messages,
        tools: Arc::from(tools),
        system: SystemPrompt::from("You are a careful engineer. Read before you write."),
        ..Request::new(model)
    }
}

/// Rounds of four: a user message, a tool call, its result, and a final message.
fn message(vendor: &str, model: &str, number: usize) -> Message {
    let id = format!("call_{:06}", number / 4);
    let timestamp = Timestamp::default();
    match number % 4 {
        0 => Message::user(
            format!("Question {number}: why does \"parse\" copy the line?\nIt need not.\n").repeat(3),
            timestamp,
        ),
        1 => answer(
            vendor,
            model,
            StopReason::ToolUse,
            vec![
                Content::text(format!("Let me look at place {number} first.")),
                Content::ToolCall(ToolCall {
                    id: id.as_str().into(),
                    name: "read".into(),
                    arguments: Arc::new(json!({"path": format!("src/part_{number}.rs"), "lines": number})),
                    malformed: None,
                    key_order: None,
                }),
            ],
        ),
        2 => Message::ToolResult(ToolResultMessage {
            tool_call_id: id.as_str().into(),
            tool_name: "read".into(),
            content: vec![Content::text(
                format!("{number}\tfn part(line: &str) -> Vec<u8> {{ line.to_owned().into_bytes() }}\n")
                    .repeat(8),
            )],
            is_error: number % 40 == 2,
            timestamp,
        }),
        _ => answer(
            vendor,
            model,
            StopReason::Stop,
            vec![Content::text(
                format!("It copies because the caller keeps the buffer; see {number}. ").repeat(4),
            )],
        ),
    }
}

fn answer(vendor: &str, model: &str, stop_reason: StopReason, content: Vec<Content>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        stop_reason,
        model: model.into(),
        provider: vendor.into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    })
}

/// Copies of all messages, as made by a client that owns its request.
pub(crate) fn copy(request: &Request) -> Vec<AgentMessage> {
    request.messages.iter().map(|message| AgentMessage::clone(message)).collect()
}
