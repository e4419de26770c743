//! Error messages for network failures: the server, the problem and its causes. They show only the origin of a URL.

use std::error::Error;
use std::time::Duration;

use rheon_types::{ProviderError, ProviderErrorKind};
use url::Url;

use super::redirect::origin;

/// When it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before the response head arrived.
    Send,
    /// While reading the body.
    Body,
}

/// The error for a failed exchange with `url`.
pub(super) fn describe(error: reqwest::Error, url: &Url, stage: Stage) -> ProviderError {
    let error = error.without_url();
    let (who, causes) = (origin(url), causes(&error));
    if error.is_builder() {
        let message = format!("cannot send the request to {who}: {causes}; check the base URL");
        return ProviderError::new(ProviderErrorKind::InvalidRequest, message);
    }
    if error.is_timeout() {
        let message = format!("connecting to {who} timed out: {causes}");
        return ProviderError::new(ProviderErrorKind::Timeout, message);
    }
    let message = match stage {
        Stage::Send if error.is_connect() => format!("cannot connect to {who}: {causes}{}", hint(&causes)),
        Stage::Send => format!("the connection to {who} failed before a response: {causes}"),
        Stage::Body => format!("the response from {who} was cut off: {causes}"),
    };
    ProviderError::new(ProviderErrorKind::Network, message)
}

/// The error for a response head that did not arrive in time.
pub(super) fn no_response(url: &Url, limit: Duration) -> ProviderError {
    let message = format!("{} did not respond within {} s", origin(url), limit.as_secs_f32());
    ProviderError::new(ProviderErrorKind::Timeout, message)
}

/// The error for a body that was silent for too long.
pub(super) fn silent(url: &Url, limit: Duration) -> ProviderError {
    let message =
        format!("{} sent nothing for {} s in the middle of its response", origin(url), limit.as_secs_f32());
    ProviderError::new(ProviderErrorKind::Timeout, message)
}

/// The causes of `error`, outermost first, without uninformative layers and repetitions.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(cause) = next {
        let text = cause.to_string();
        let known = words.iter().any(|earlier| earlier.contains(&text));
        if !text.is_empty() && !known && !text.starts_with("client error (") {
            words.push(text);
        }
        next = cause.source();
    }
    // The outermost message is covered by our own.
    if words.len() > 1 {
        words.remove(0);
    }
    words.join(": ")
}

fn hint(causes: &str) -> &'static str {
    let causes = causes.to_ascii_lowercase();
    if causes.contains("certificate") {
        "; if your proxy re-signs connections, set SSL_CERT_FILE to its certificate"
    } else if causes.contains("dns") || causes.contains("lookup") {
        "; check the base URL and the network"
    } else {
        ""
    }
}
