//! `Event`: one event of a stream, before framing.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The event type, if the wire has one outside of the data.
    pub(crate) name: String,
    pub(crate) kind: EventKind,
    /// The data: JSON, except for the end marker of the chat wire.
    pub(crate) data: String,
}

/// The message type in a binary frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A part of the response.
    Event,
    /// An exception.
    Exception,
}

impl Event {
    /// A part of the response.
    pub(crate) fn new(name: impl Into<String>, data: &Value) -> Self {
        Self { name: name.into(), kind: EventKind::Event, data: data.to_string() }
    }
}
