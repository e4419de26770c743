//! Detects the kind of body from the content type and the first byte. Pure.

use rheon_types::{ProviderError, ProviderErrorKind};
use serde_json::Value;

use crate::error::{malformed, shorten};
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
        (Some("application/json"), WireKind::Bedrock) => Form::Frames(Framing::Lines),
        (Some("application/json" | "application/problem+json"), _) => Form::Json,
        (None | Some("text/plain" | "application/octet-stream" | "binary/octet-stream"), _) => {
            Form::Frames(wire.framing())
        }
        (Some(other), _) => return Err(wrong_type(other)),
    })
}

/// Whether a body declared as server-sent events is JSON, as some gateways send it: no event starts like that.
pub(super) fn is_really_json(form: Form, first: &[u8]) -> bool {
    let begin = first.trim_ascii_start().first();
    form == Form::Frames(Framing::Sse) && matches!(begin, Some(b'{' | b'['))
}

/// Converts a response that was not streamed to lines for the decoder: the value, or the values of an array.
pub(super) fn as_lines(wire: WireKind, json: &Value) -> Result<Vec<u8>, ProviderError> {
    match wire {
        WireKind::Chat | WireKind::Gemini => {}
        WireKind::Anthropic | WireKind::Responses | WireKind::Bedrock => {
            return Err(wrong_type("application/json"));
        }
    }
    let values = match json {
        Value::Array(values) => values.as_slice(),
        Value::Object(_) => std::slice::from_ref(json),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(malformed("JSON that is not an object"));
        }
    };
    let mut lines = Vec::new();
    for value in values {
        serde_json::to_writer(&mut lines, value).map_err(malformed)?;
        lines.push(b'\n');
    }
    Ok(lines)
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
