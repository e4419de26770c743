//! Classifies errors of all services the same way. Pure.

mod classify;
mod delay;
mod report;

use http::{HeaderMap, StatusCode};
use rheon_types::{ProviderError, ProviderErrorKind, Timestamp};

use classify::kind_of;
use report::Report;

pub(crate) use delay::retry_after;
pub(crate) use report::is_error_body;

/// The maximum length of a quoted service message, in characters.
pub(crate) const MESSAGE_CHARS_MAX: usize = 1_000;
/// Marks a truncated message.
pub(crate) const SHORTENED: &str = " ... (shortened)";

/// The label of a message without a code.
const UNNAMED: &str = "the service reported an error";

/// An error response: its kind, the service's message, and the requested delay.
///
/// The delay is passed on as the service states it; the caller limits it. Nonsense is ignored.
pub(crate) fn from_response(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> ProviderError {
    let mut report = Report::read(headers, body);
    report.status = Some(status.as_u16()).filter(|_| !status.is_success());
    let kind = kind_of(&report);
    let named = report.codes.iter().find(|code| code.parse::<u64>().is_err()).map(String::as_str);
    let label = match named.or_else(|| status.canonical_reason()) {
        _ if status.is_success() => named.unwrap_or(UNNAMED).to_owned(),
        Some(name) => format!("{} {name}", status.as_str()),
        None => status.as_str().to_owned(),
    };
    let message = format_message(&label, &report.message, hint(&report, kind));
    let retry_after_ms = match kind {
        ProviderErrorKind::RateLimited => {
            delay::requested(headers, &report, now).or_else(|| delay::until_reset(headers, now))
        }
        ProviderErrorKind::Overloaded | ProviderErrorKind::Timeout => delay::requested(headers, &report, now),
        ProviderErrorKind::Auth
        | ProviderErrorKind::ContextOverflow
        | ProviderErrorKind::InvalidRequest
        | ProviderErrorKind::Network
        | ProviderErrorKind::ContentFilter
        | ProviderErrorKind::Malformed
        | ProviderErrorKind::Cancelled
        | ProviderErrorKind::Api => None,
    };
    ProviderError { kind, message, retry_after_ms }
}

/// An error that a service reports inside a stream, by its code or type and its message.
pub(crate) fn in_stream(code: &str, message: &str) -> ProviderError {
    let report = Report::in_stream(code, message);
    let kind = kind_of(&report);
    let label = if code.is_empty() { UNNAMED } else { code };
    let message = format_message(label, &report.message, hint(&report, kind));
    let retry_after_ms = match kind {
        ProviderErrorKind::RateLimited | ProviderErrorKind::Overloaded => {
            delay::delay_in_message(&report.message)
        }
        ProviderErrorKind::Auth
        | ProviderErrorKind::ContextOverflow
        | ProviderErrorKind::InvalidRequest
        | ProviderErrorKind::Network
        | ProviderErrorKind::Timeout
        | ProviderErrorKind::ContentFilter
        | ProviderErrorKind::Malformed
        | ProviderErrorKind::Cancelled
        | ProviderErrorKind::Api => None,
    };
    ProviderError { kind, message, retry_after_ms }
}

/// A response that violates the wire format. `what` says where and why.
pub(crate) fn malformed(what: impl std::fmt::Display) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Malformed, format!("cannot read the service's response: {what}"))
}

/// At most [`MESSAGE_CHARS_MAX`] characters of `text`.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}{SHORTENED}", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn format_message(label: &str, message: &str, hint: &str) -> String {
    let label = shorten(label);
    if message.is_empty() || message == label {
        return format!("{label}{hint}");
    }
    format!("{label}: {}{hint}", shorten(message))
}

/// What to do about it, if the service does not say.
fn hint(report: &Report, kind: ProviderErrorKind) -> &'static str {
    let missing = kind == ProviderErrorKind::InvalidRequest && matches!(report.status, Some(404 | 405));
    let untimely = ["signature expired", "signature not yet current"];
    if kind == ProviderErrorKind::Auth
        && untimely.iter().any(|format_message| report.mentions(format_message))
    {
        " (check this machine's clock)"
    } else if !missing {
        ""
    } else if report.mentions("model") {
        " (check the model name)"
    } else {
        " (check the base URL and the model name)"
    }
}

#[cfg(test)]
mod error_tests;
