//! `Event`: one event of a stream, before it is framed.

use serde_json::Value;

/// One event of a stream, before it is framed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its type, where the wire names it outside of the data.
    pub(crate) name: String,
    /// What it is to a binary frame.
    pub(crate) kind: EventKind,
    /// Its data: JSON, but for the end mark of the chat wire.
    pub(crate) data: String,
}

/// What an event is to a binary frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A part of the answer.
    Event,
    /// A failure.
    Exception,
}

impl Event {
    /// A part of the answer.
    pub(crate) fn new(name: impl Into<String>, data: &Value) -> Self {
        Self { name: name.into(), kind: EventKind::Event, data: data.to_string() }
    }
}
