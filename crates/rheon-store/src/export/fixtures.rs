//! A session with everything an export must handle.

use std::sync::Arc;

use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, AssistantMessage, Content, Event, ExtensionMessage, Message,
    MessageEvent, PlanEvent, RunEnd, RunEvent, StopReason, Timestamp, ToolCall, ToolEvent, ToolResultMessage,
    Usage,
};
use serde_json::{Value, json};

/// An image of one pixel.
pub(super) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A secret, assembled so that scanners do not report this file.
pub(super) fn canary() -> String {
    ["sk", "ant", "api03", "AAAABBBBCCCCDDDD1234"].join("-")
}

pub(super) fn events(kinds: impl IntoIterator<Item = AgentEvent>) -> Vec<Event> {
    let event = |(kind, seq): (AgentEvent, u64)| Event {
        seq,
        at: Timestamp::from_millis(1_700_000_000_000 + seq * 1_000),
        session_id: "s".into(),
        run_id: Some("s.c.0".into()),
        kind,
    };
    kinds.into_iter().zip(1..).map(event).collect()
}

pub(super) fn user(text: &str) -> AgentEvent {
    AgentEvent::Message(MessageEvent::End {
        message: Arc::new(AgentMessage::user(text, Timestamp::default())),
    })
}

pub(super) fn assistant(content: Vec<Content>) -> AgentEvent {
    let message = Message::Assistant(AssistantMessage {
        content,
        stop_reason: StopReason::Stop,
        model: "m".into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    });
    AgentEvent::Message(MessageEvent::End { message: Arc::new(message.into()) })
}

pub(super) fn call(name: &str, arguments: Value) -> Content {
    Content::ToolCall(ToolCall {
        id: "call_1".into(),
        name: name.into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    })
}

pub(super) fn result(name: &str, content: Vec<Content>, is_error: bool) -> AgentEvent {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: "call_1".into(),
        tool_name: name.into(),
        content,
        is_error,
        timestamp: Timestamp::default(),
    });
    AgentEvent::Message(MessageEvent::End { message: Arc::new(message.into()) })
}

pub(super) fn image(mime_type: &str, data: &str) -> Content {
    Content::Image { data: data.into(), mime_type: mime_type.into() }
}

/// One event of each kind.
pub(super) fn session() -> Vec<Event> {
    let thinking = Content::Thinking { thinking: "The user wants <b>order</b>.".into(), signature: None };
    let extension =
        AgentMessage::Extension(ExtensionMessage { kind: "mark".into(), data: json!({ "at": 3 }) });
    let output = AgentOutput {
        text: "Done.".into(),
        usage: Usage { input: 900, output: 100, ..Usage::default() },
        turns: 2,
        ..AgentOutput::new(RunEnd::Completed)
    };
    events([
        AgentEvent::Run(RunEvent::Start {
            agent_id: "agent".into(),
            parent_run_id: None,
            continuation: None,
            model: "a-model".into(),
            metadata: None,
            settings: None,
            history: None,
            cuts: Vec::new(),
        }),
        user(&format!("My key is {} <script>alert(1)</script>", canary())),
        assistant(vec![
            thinking,
            Content::text("I will look:\n\n```rust\nlet a = b < c && d;\n```\nand then `act`."),
            call("bash", json!({ "api_key": "hidden-9999", "command": "cat .env", "note": "a\nb" })),
        ]),
        result(
            "bash",
            vec![
                Content::text(format!("\u{1b}[31mKEY={}\u{1b}[0m\n```\nevil \u{202e}txt.exe", canary())),
                image("image/png", PIXEL),
            ],
            false,
        ),
        AgentEvent::Tool(ToolEvent::Blocked {
            call_id: "call_2".into(),
            name: "rm".into(),
            reason: "not <that>".into(),
        }),
        result("rm", vec![Content::text("Refused.")], true),
        AgentEvent::Plan(PlanEvent::Tasks {
            items: vec![
                TaskItem { text: "look".into(), status: TaskStatus::Completed },
                TaskItem { text: "act".into(), status: TaskStatus::InProgress },
            ],
        }),
        assistant(vec![image("image/svg+xml", "PHN2Zz4="), Content::text("Done.")]),
        AgentEvent::Message(MessageEvent::End { message: Arc::new(extension) }),
        AgentEvent::Run(RunEvent::End { output: Arc::new(output) }),
    ])
}
