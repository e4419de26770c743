//! Events and dumps for the tests of this module.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, AssistantMessage, Content, Event, Message, MessageEvent, MicroUsd,
    ModelEvent, RunEnd, RunEvent, SessionId, StopReason, Timestamp, ToolEvent, ToolResult, ToolResultMessage,
    TurnEvent, TurnTrigger, Usage,
};
use serde_json::json;

use super::database::Database;
use super::index::SessionSource;

pub(super) fn source(id: &str, project: &str) -> SessionSource {
    SessionSource {
        session_id: id.into(),
        project: project.to_owned(),
        path: PathBuf::from(format!("{project}/{id}.log")),
        parent: None,
    }
}

/// Numbers `kinds` from 1, one second apart.
pub(super) fn events(id: &str, start_ms: u64, kinds: Vec<AgentEvent>) -> Vec<Event> {
    let event = |(seq, kind)| Event {
        seq,
        at: Timestamp::from_millis(start_ms + seq * 1_000),
        session_id: SessionId::from(id),
        run_id: Some(format!("{id}.main.0").into()),
        kind,
    };
    (1..).zip(kinds).map(event).collect()
}

pub(super) fn started() -> AgentEvent {
    AgentEvent::Run(RunEvent::Start {
        agent_id: "agent".into(),
        parent_run_id: None,
        continuation: None,
        model: "m1".into(),
        metadata: None,
        settings: None,
        history: None,
        cuts: Vec::new(),
    })
}

pub(super) fn said(text: &str) -> AgentEvent {
    AgentEvent::Message(MessageEvent::End {
        message: Arc::new(AgentMessage::user(text, Timestamp::default())),
    })
}

pub(super) fn answered(text: &str) -> AgentEvent {
    answered_by("", text)
}

/// An answer that names its model.
pub(super) fn answered_by(model: &str, text: &str) -> AgentEvent {
    let message = Message::Assistant(AssistantMessage {
        content: vec![Content::text(text)],
        stop_reason: StopReason::Stop,
        model: model.into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    });
    AgentEvent::Message(MessageEvent::End { message: Arc::new(message.into()) })
}

pub(super) fn tool_said(text: &str) -> AgentEvent {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: "c1".into(),
        tool_name: "read".into(),
        content: vec![Content::text(text)],
        is_error: false,
        timestamp: Timestamp::default(),
    });
    AgentEvent::Message(MessageEvent::End { message: Arc::new(message.into()) })
}

pub(super) fn called(model: &str) -> AgentEvent {
    AgentEvent::Model(ModelEvent::Start { model: model.into(), tokens_estimate: 10, reserved: None })
}

pub(super) fn spent(input: u64, output: u64, cost: Option<u64>) -> AgentEvent {
    AgentEvent::Model(ModelEvent::End {
        usage: Usage { input, output, ..Usage::default() },
        stop_reason: StopReason::Stop,
        cost: cost.map(MicroUsd),
        first_token_ms: None,
        duration_ms: 5,
        estimated: None,
    })
}

pub(super) fn ended(end: RunEnd) -> AgentEvent {
    AgentEvent::Run(RunEvent::End { output: Arc::new(AgentOutput { turns: 1, ..AgentOutput::new(end) }) })
}

/// A complete small run: a prompt, a tool call, two model calls, an answer.
pub(super) fn run(prompt: &str, answer: &str) -> Vec<AgentEvent> {
    vec![
        started(),
        AgentEvent::Turn(TurnEvent::Start { turn_index: 0, triggered_by: TurnTrigger::User }),
        said(prompt),
        called("m1"),
        spent(100, 20, Some(7)),
        AgentEvent::Tool(ToolEvent::Start {
            call_id: "c1".into(),
            name: "read".into(),
            args: Arc::new(json!({"path": "a.rs"})),
            effect: rheon_types::Effect::Pure,
            grant: None,
        }),
        AgentEvent::Tool(ToolEvent::End {
            call_id: "c1".into(),
            name: "read".into(),
            result: Arc::new(ToolResult::text("fn main() {}")),
            is_error: false,
            duration_ms: 12,
            child_run_id: None,
        }),
        AgentEvent::Tool(ToolEvent::Blocked {
            call_id: "c2".into(),
            name: "shell".into(),
            reason: "no".into(),
        }),
        tool_said("fn main() {}"),
        AgentEvent::Turn(TurnEvent::Start { turn_index: 1, triggered_by: TurnTrigger::Continuation }),
        called("m2"),
        answered(answer),
        spent(150, 30, None),
        ended(RunEnd::Completed),
    ]
}

/// All rows of the index as text, without numbers that depend on the order of writing.
pub(super) fn dump(database: &Database) -> String {
    const TABLES: [&str; 5] = [
        "SELECT 'session', id, project, cast(path AS TEXT), parent_id, parent_seq, title, status, created_ms, active_ms, \
         models, turns, seq FROM sessions ORDER BY id",
        "SELECT 'run', id, run_id, model FROM runs JOIN sessions ON session = sessions.number ORDER BY id, run_id",
        "SELECT 'entry', id, entries.seq, run_id, role, at_ms, text FROM entries JOIN sessions \
         ON session = sessions.number ORDER BY id, entries.seq",
        "SELECT 'call', id, tool_calls.seq, run_id, call_id, name, arguments, state, duration_ms FROM tool_calls \
         JOIN sessions ON session = sessions.number ORDER BY id, tool_calls.seq",
        "SELECT 'usage', id, model, calls, calls_unpriced, input, output, cache_read, cache_write, total, cost_micro_usd \
         FROM usage JOIN sessions ON session = number ORDER BY id, model",
    ];
    TABLES.map(|sql| rows(database, sql)).concat()
}

/// Fails if a full-text index differs from its rows.
pub(super) fn check_search(database: &Database, table: &str) {
    let sql = format!("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)");
    database.write(|connection| connection.execute(&sql, [])).unwrap();
}

/// The rows of a query, one line each.
pub(super) fn rows(database: &Database, sql: &str) -> String {
    use rusqlite::types::ValueRef;
    database
        .read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            let mut text = String::new();
            while let Some(row) = rows.next()? {
                let cells = (0..columns).map(|column| {
                    row.get_ref(column).map(|value| match value {
                        ValueRef::Null => "-".to_owned(),
                        ValueRef::Integer(number) => number.to_string(),
                        ValueRef::Real(number) => number.to_string(),
                        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                            String::from_utf8_lossy(bytes).into_owned()
                        }
                    })
                });
                text += &cells.collect::<Result<Vec<_>, _>>()?.join(" | ");
                text.push('\n');
            }
            Ok(text)
        })
        .unwrap()
}
