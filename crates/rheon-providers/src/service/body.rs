//! Detects the kind of body from the content type and the first byte. Pure.

use rheon_types::{ProviderError, ProviderErrorKind};

use crate::error::shorten;
use crate::frame::Framing;
use crate::wire::WireKind;

/// How a body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Frame by frame.
    Frames(Framing),
    /// As one JSON value: a response or an error.
    Json,
}

/// How to read a body of this content type on `wire`. A missing or generic content type means the wire's default.
pub(super) fn form(wire: WireKind, content_type: Option<&str>) -> Result<Form, ProviderError> {
    Ok(match (content_type, wire) {
        (Some("text/event-stream"), _) => Form::Frames(Framing::Sse),
        (Some("application/vnd.amazon.eventstream"), _) => Form::Frames(Framing::EventStream),
        (Some("application/x-ndjson" | "application/ndjson" | "application/jsonl"), _) => {
            Form::Frames(Framing::Lines)
        }
        (Some("application/json" | "text/json" | "application/problem+json"), _) => Form::Json,
        (None | Some("text/plain" | "application/octet-stream" | "binary/octet-stream"), _) => {
            Form::Frames(wire.framing())
        }
        (Some(other), _) => return Err(wrong_type(other)),
    })
}

/// The form of a body by its first bytes: gateways send JSON as server-sent events, and events as JSON.
pub(super) fn really(form: Form, first: &[u8]) -> Form {
    let first = first.trim_ascii_start();
    let is_json = matches!(first.first(), Some(b'{' | b'['));
    match form {
        Form::Frames(Framing::Sse) if is_json => Form::Json,
        Form::Json if starts_event(first) => Form::Frames(Framing::Sse),
        Form::Frames(_) | Form::Json => form,
    }
}

fn starts_event(first: &[u8]) -> bool {
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| first.starts_with(field.as_bytes()))
}

fn wrong_type(content_type: &str) -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::Malformed,
        format!(
            "the service responded with {} instead of an event stream; check the base URL",
            shorten(content_type)
        ),
    )
}
