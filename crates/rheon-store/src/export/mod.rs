//! A session as markdown, JSON or one page of HTML, without the secrets that stand in it.
//!
//! All three are written from durable events, one at a time, so that a long session needs no more memory than its longest
//! message. What is written is made harmless first: secrets give way to `[redacted: kind]`, and characters that a terminal
//! or a browser would obey rather than show are spelt out. The report says where that happened.

mod clean;
mod escape;
mod html;
mod json;
mod markdown;
mod options;
mod passage;
mod picture;
mod redact;
mod report;

use std::sync::Arc;

use rheon_types::{AgentEvent, AgentMessage, Event, Message, MessageEvent, SessionId, Timestamp};

pub use html::write_html;
pub use json::{EXPORT_JSON_VERSION, write_json};
pub use markdown::write_markdown;
pub use options::ExportOptions;
pub use report::{REDACTION_PLACES_MAX, RedactedPlace, RedactionReport};

/// An export in memory, and what was taken out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// The export.
    pub text: String,
    /// What was taken out.
    pub report: RedactionReport,
}

/// The session as markdown.
pub fn markdown(events: &[Event], options: &ExportOptions) -> Exported {
    exported(|out| write_markdown(out, events, options))
}

/// The session as JSON.
pub fn json(events: &[Event], options: &ExportOptions) -> Exported {
    exported(|out| write_json(out, events, options))
}

/// The session as one page of HTML.
pub fn html(events: &[Event], options: &ExportOptions) -> Exported {
    exported(|out| write_html(out, events, options))
}

fn exported(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<RedactionReport>) -> Exported {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let report = write(&mut out).unwrap_or_default();
    Exported { text: String::from_utf8_lossy(&out).into_owned(), report }
}

/// A conversation as events, for whoever has messages and no log. The places of the report are then the numbers of the
/// messages, from 1.
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
        Some(Message::User(said)) => said.timestamp,
        Some(Message::Assistant(said)) => said.timestamp,
        Some(Message::ToolResult(said)) => said.timestamp,
        None => Timestamp::default(),
    }
}

#[cfg(test)]
mod export_tests;
#[cfg(test)]
mod fixtures;
