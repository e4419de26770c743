//! Converts an event to changes of the index. Pure.

use std::io::{self, Write};

use rheon_text::TextContext;
use rheon_types::{
    AgentEvent, AgentMessage, Author, ContextEvent, Event, Message, MessageEvent, MicroUsd, ModelEvent,
    RunEnd, RunEvent, RunId, SessionEvent, ToolCallId, ToolEvent, ToolName, TurnEvent, Usage,
};
use serde_json::Value;

use super::row::{CallState, EntryRole, SessionStatus};

/// How much of a message is indexed.
pub(super) const TEXT_BYTES_MAX: usize = 64 << 10;
/// How much of a tool's output is indexed.
pub(super) const OUTPUT_BYTES_MAX: usize = 4 << 10;
pub(super) const TITLE_CHARS_MAX: usize = 80;
/// How much of a call's arguments is stored.
pub(super) const ARGUMENTS_BYTES_MAX: usize = 240;

/// A change of the index.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Row {
    /// A message.
    Entry {
        role: EntryRole,
        text: String,
    },
    /// The first prompt of the session, unless it has one.
    FirstPrompt(String),
    /// The session was given this title.
    Title(String),
    Status(SessionStatus),
    /// A turn started.
    Turn,
    /// A run uses this model from now on.
    Model(String),
    /// A model call ended.
    Spent {
        usage: Usage,
        cost: Option<MicroUsd>,
    },
    /// A tool call started.
    CallStart {
        call_id: ToolCallId,
        name: ToolName,
        arguments: String,
    },
    /// A tool call ended or was blocked.
    CallEnd {
        call_id: ToolCallId,
        name: ToolName,
        state: CallState,
        duration_ms: u64,
    },
}

/// The changes of an event, and its run.
pub(super) fn rows_of(event: &Event) -> (RunId, Vec<Row>) {
    let rows = match &event.kind {
        AgentEvent::Run(RunEvent::Start { model, .. }) => {
            vec![Row::Status(SessionStatus::Unfinished), Row::Model(model.to_string())]
        }
        AgentEvent::Run(RunEvent::End { output }) => {
            vec![Row::Status(SessionStatus::from(&output.end))]
        }
        AgentEvent::Session(SessionEvent::Title { title }) => {
            vec![Row::Title(title_of(title).unwrap_or_default())]
        }
        AgentEvent::Turn(TurnEvent::Start { .. }) => vec![Row::Turn],
        AgentEvent::Model(ModelEvent::Start { model, .. }) => vec![Row::Model(model.to_string())],
        AgentEvent::Model(ModelEvent::End { usage, cost, .. }) => {
            vec![Row::Spent { usage: *usage, cost: *cost }]
        }
        AgentEvent::Message(MessageEvent::End { message }) => rows_of_message(message),
        AgentEvent::Context(ContextEvent::CompactionEnd { summary: Some(summary), .. }) => {
            entry(EntryRole::Summary, summary, TEXT_BYTES_MAX)
        }
        AgentEvent::Tool(ToolEvent::Start { call_id, name, args, .. }) => vec![Row::CallStart {
            call_id: call_id.clone(),
            name: name.clone(),
            arguments: shortened_arguments(args),
        }],
        AgentEvent::Tool(ToolEvent::End { call_id, name, is_error, duration_ms, .. }) => vec![Row::CallEnd {
            call_id: call_id.clone(),
            name: name.clone(),
            state: if *is_error { CallState::Failed } else { CallState::Done },
            duration_ms: *duration_ms,
        }],
        AgentEvent::Tool(ToolEvent::Blocked { call_id, name, .. }) => vec![Row::CallEnd {
            call_id: call_id.clone(),
            name: name.clone(),
            state: CallState::Blocked,
            duration_ms: 0,
        }],
        _ => Vec::new(),
    };
    // Session events belong to no run.
    (event.run_id.clone().unwrap_or_else(|| RunId::from("")), rows)
}

fn rows_of_message(message: &AgentMessage) -> Vec<Row> {
    let Some(message) = message.as_llm() else { return Vec::new() };
    let text = message.text();
    match message {
        Message::User(user) => match user.author {
            Author::User => {
                let mut rows = entry(EntryRole::User, &text, TEXT_BYTES_MAX);
                rows.extend(title_of(&text).map(Row::FirstPrompt));
                rows
            }
            Author::Runtime => entry(EntryRole::Runtime, &text, TEXT_BYTES_MAX),
        },
        Message::Assistant(_) => entry(EntryRole::Assistant, &text, TEXT_BYTES_MAX),
        Message::ToolResult(_) => entry(EntryRole::ToolResult, &text, OUTPUT_BYTES_MAX),
    }
}

/// An entry without text is not stored: no search could find it.
fn entry(role: EntryRole, text: &str, bytes_max: usize) -> Vec<Row> {
    if text.is_empty() {
        return Vec::new();
    }
    vec![Row::Entry { role, text: beginning(text, bytes_max).to_owned() }]
}

impl From<&RunEnd> for SessionStatus {
    fn from(end: &RunEnd) -> Self {
        match end {
            RunEnd::Completed => SessionStatus::Completed,
            RunEnd::Truncated => SessionStatus::Truncated,
            RunEnd::Limit { .. } | RunEnd::Stuck { .. } => SessionStatus::Limit,
            RunEnd::Rejected { .. } => SessionStatus::Rejected,
            RunEnd::Vetoed { .. } => SessionStatus::Vetoed,
            RunEnd::Aborted => SessionStatus::Aborted,
            RunEnd::Failed { .. } => SessionStatus::Failed,
        }
    }
}

/// The first line of a text with content, shortened.
fn title_of(prompt: &str) -> Option<String> {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String =
        line.chars().filter(|it| !TextContext::Title.forbids(*it)).take(TITLE_CHARS_MAX).collect();
    if line.chars().nth(TITLE_CHARS_MAX).is_some() {
        title.pop();
        title.push('…');
    }
    Some(title)
}

/// The arguments as JSON up to the limit. Serialization stops there.
fn shortened_arguments(arguments: &Value) -> String {
    let mut short = ShortWriter(Vec::new());
    // The only possible error is that the limit was reached.
    let is_whole = serde_json::to_writer(&mut short, arguments).is_ok();
    let text = match String::from_utf8(short.0) {
        Ok(text) => text,
        Err(cut) => {
            let whole_bytes = cut.utf8_error().valid_up_to();
            let mut bytes = cut.into_bytes();
            bytes.truncate(whole_bytes);
            String::from_utf8(bytes).unwrap_or_default()
        }
    };
    if is_whole { text } else { text + "…" }
}

/// A writer that fails once it is full.
struct ShortWriter(Vec<u8>);

impl Write for ShortWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = ARGUMENTS_BYTES_MAX.saturating_sub(self.0.len());
        if room == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = bytes.get(..room.min(bytes.len())).unwrap_or(bytes);
        self.0.extend_from_slice(written);
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The start of `text`, cut at a character boundary.
fn beginning(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
