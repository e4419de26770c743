//! Exports a session as Markdown, JSON or a single HTML page, without secrets.
//!
//! All formats are written from durable events, one at a time, so that a long session needs no more memory than its
//! longest message. Secrets are replaced by `[redacted: kind]`, and characters that would control a terminal or a
//! browser are escaped. The report says where.

mod clean;
mod escape;
mod html;
mod markdown;
mod options;
mod passage;
mod redact;
mod report;

use std::borrow::Borrow;
use std::io::{self, Write};
use std::sync::Arc;

use rheon_types::{AgentEvent, AgentMessage, Event, Message, MessageEvent, SessionId, Timestamp};

use crate::tree::LoopFact;
use redact::Filter;

pub use html::write_html;
pub use markdown::write_markdown;
pub use options::ExportOptions;
pub use report::{REDACTION_SITES_MAX, RedactionReport, RedactionSite};

/// An export in memory and its report.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportResult {
    pub text: String,
    pub report: RedactionReport,
}

pub fn markdown(events: &[Event], options: &ExportOptions) -> ExportResult {
    exported(|out| write_markdown(out, events, options))
}

pub fn json(events: &[Event], options: &ExportOptions) -> ExportResult {
    exported(|out| write_json(out, events, options))
}

pub fn html(events: &[Event], options: &ExportOptions) -> ExportResult {
    exported(|out| write_html(out, events, options))
}

fn exported(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<RedactionReport>) -> ExportResult {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let report = write(&mut out).unwrap_or_default();
    ExportResult { text: String::from_utf8_lossy(&out).into_owned(), report }
}

/// Converts messages to events, for callers without a log. The report then counts messages, from 1.
pub fn events_of_messages<'a>(
    messages: impl IntoIterator<Item = &'a Arc<AgentMessage>> + 'a,
) -> impl Iterator<Item = Event> + 'a {
    messages.into_iter().zip(1..).map(|(message, seq)| Event {
        seq,
        at: timestamp_of(message),
        session_id: SessionId::from(""),
        run_id: None,
        kind: AgentEvent::Message(MessageEvent::End { message: Arc::clone(message) }),
    })
}

fn timestamp_of(message: &AgentMessage) -> Timestamp {
    match message.as_llm() {
        Some(Message::User(message)) => message.timestamp,
        Some(Message::Assistant(message)) => message.timestamp,
        Some(Message::ToolResult(message)) => message.timestamp,
        None => Timestamp::default(),
    }
}

pub const EXPORT_JSON_VERSION: u64 = 1;

/// Writes `{"version", "title", "events": [...], "redactions"}`, one event per line. Each message is written once,
/// in its `message.end`; `message.start`, `turn.end` and `agent.end` omit it.
pub fn write_json<E: Borrow<Event>>(
    out: &mut impl Write,
    events: impl IntoIterator<Item = E>,
    options: &ExportOptions,
) -> io::Result<RedactionReport> {
    let mut filter = Filter::new(options);
    let title = serde_json::to_string(&filter.text(&options.title))?;
    write!(out, "{{\n\"version\": {EXPORT_JSON_VERSION},\n\"title\": {title},\n\"events\": [")?;
    let mut separator = "\n";
    for event in events {
        let event = event.borrow();
        if !event.kind.is_durable() {
            continue;
        }
        filter.at(event.seq);
        let brief = Event { kind: LoopFact::from(event).kind, ..event.clone() };
        let value = filter.value(&serde_json::to_value(&brief)?);
        write!(out, "{separator}")?;
        serde_json::to_writer(&mut *out, &value)?;
        separator = ",\n";
    }
    write!(out, "\n],\n\"redactions\": ")?;
    serde_json::to_writer_pretty(&mut *out, &filter.report)?;
    writeln!(out, "\n}}")?;
    Ok(filter.report)
}

#[cfg(test)]
mod export_tests;
#[cfg(test)]
mod fixtures;
