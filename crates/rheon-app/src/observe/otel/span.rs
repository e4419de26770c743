//! `Span`: an operation with its times and attributes.

use rheon_types::Timestamp;

/// An operation with a start and an end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) attributes: Vec<Attribute>,
    pub(super) error: Option<String>,
}

impl Span {
    /// How long it took.
    pub(super) fn seconds(&self) -> f64 {
        self.ended.as_millis().saturating_sub(self.began.as_millis()) as f64 / 1000.0
    }
}

/// The position of a span in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) trace_id: [u8; 16],
    pub(super) span_id: [u8; 8],
    pub(super) parent_id: Option<[u8; 8]>,
}

/// The role of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// Happens in this process.
    Internal,
    Client,
}

/// A name with a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) value: Known,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    Text(String),
    Number(u64),
    Texts(Vec<String>),
    Truth(bool),
    /// Seconds, sent as a floating-point number.
    Milliseconds(u64),
}

/// A string attribute, truncated if a service or a model made it too long.
pub(super) fn text(name: &str, value: impl Into<String>) -> Attribute {
    let value: String = value.into();
    Attribute { name: name.into(), value: Known::Text(value.chars().take(TEXT_CHARS_MAX).collect()) }
}

/// An attribute that is a number.
pub(super) fn number(name: &str, value: u64) -> Attribute {
    Attribute { name: name.into(), value: Known::Number(value) }
}

/// An attribute that is true.
pub(super) fn truth(name: &str) -> Attribute {
    Attribute { name: name.into(), value: Known::Truth(true) }
}

/// An attribute that is a time in seconds.
pub(super) fn seconds(name: &str, milliseconds: u64) -> Attribute {
    Attribute { name: name.into(), value: Known::Milliseconds(milliseconds) }
}

/// How long the text of an attribute may be.
pub(super) const TEXT_CHARS_MAX: usize = 256;
