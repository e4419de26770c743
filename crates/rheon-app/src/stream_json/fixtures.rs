//! Sessions and events for tests.

use std::sync::Arc;

use rheon_types::event::PermissionMode;
use rheon_types::{
    AgentEvent, AgentMessage, AssistantMessage, Content, Event, Message, RunEvent, StopReason, Timestamp,
    ToolCall, Usage,
};
use serde_json::Value;

use super::{NamedItem, Projector, SessionFeatures, StreamModelInfo, StreamOptions, StreamSessionInfo};

pub(super) fn facts() -> StreamSessionInfo {
    let described = |name: &str| NamedItem { name: name.into(), description: format!("what {name} does") };
    StreamSessionInfo {
        session_id: "s".into(),
        cwd: "/project".into(),
        additional_directories: vec!["/other".into()],
        model: StreamModelInfo {
            id: "scripted".into(),
            context_window: 1_000,
            output_tokens_max: 100,
            key_source: "none".into(),
        },
        permission_mode: PermissionMode::Default,
        offers: SessionFeatures {
            tools: ["bash", "read", "edit", "todo", "plan", "own"].map(str::to_owned).to_vec(),
            slash_commands: vec![described("compact")],
            skills: vec!["deploy".into()],
            agents: vec![described("explore")],
            mcp_servers: vec![rheon_types::protocol::McpServerSummary {
                name: "files".into(),
                status: "failed".into(),
                ..Default::default()
            }],
        },
        version: "0.1.0".into(),
    }
}

/// Everything that can be shown.
pub(super) const ALL: StreamOptions =
    StreamOptions { partial_messages: true, user_messages: true, hook_events: true };

/// The lines of `events`.
pub(super) fn lines(shown: StreamOptions, events: &[Event]) -> Vec<Value> {
    let mut projector = Projector::new(facts(), shown);
    let lines = events.iter().flat_map(|event| projector.take(event));
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

/// Lines as text, without ids and times where they only get in the way.
pub(super) fn brief(lines: &[Value]) -> String {
    let mut text = String::new();
    for line in lines {
        let mut line = line.clone();
        for key in ["uuid", "session_id", "timestamp", "api_message_id", "parent_tool_use_id"] {
            if let Some(value) = line.as_object_mut().unwrap().remove(key)
                && key == "parent_tool_use_id"
                && !value.is_null()
            {
                line[key] = value;
            }
        }
        for message in [line.pointer_mut("/message"), None].into_iter().flatten() {
            let fields = message.as_object_mut().unwrap();
            for key in ["id", "type", "stop_reason", "stop_sequence", "context_management", "usage"] {
                fields.remove(key);
            }
        }
        text += &format!("{line}\n");
    }
    text
}

/// Events in order, numbered as a log numbers them.
pub(super) fn numbered(kinds: impl IntoIterator<Item = (&'static str, AgentEvent)>) -> Vec<Event> {
    let mut seq = 0;
    let event = |(run_id, kind): (&str, AgentEvent)| {
        seq += u64::from(kind.is_durable());
        let at = Timestamp::from_millis(1_000 + seq * 10);
        Event { seq, at, session_id: "s".into(), run_id: Some(run_id.into()), kind }
    };
    kinds.into_iter().map(event).collect()
}

pub(super) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    }
}

pub(super) fn answer(content: Vec<Content>, stop_reason: StopReason) -> Arc<AgentMessage> {
    let usage = Usage { input: 10, output: 5, ..Usage::default() };
    let message = AssistantMessage {
        content,
        stop_reason,
        model: "scripted".into(),
        provider: "scripted".into(),
        usage,
        timestamp: Timestamp::from_millis(1_000),
        error_message: None,
    };
    Arc::new(Message::Assistant(message).into())
}

pub(super) fn starts() -> AgentEvent {
    AgentEvent::Run(RunEvent::Start {
        agent_id: "agent".into(),
        parent_run_id: None,
        continuation: None,
        model: "scripted".into(),
        metadata: None,
        settings: None,
        history: None,
        cuts: Vec::new(),
    })
}
