//! Failures of the network, in words: who, what, and the causes, without anything of the address but its
//! origin.

use std::error::Error;
use std::time::Duration;

use rheon_types::{ProviderError, ProviderErrorKind};
use url::Url;

use super::redirect::origin;

/// When it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before the head of the answer was there.
    Send,
    /// While the body came in.
    Body,
}

/// What failed between us and `url`.
pub(super) fn describe(error: reqwest::Error, url: &Url, stage: Stage) -> ProviderError {
    let error = error.without_url();
    let (who, causes) = (origin(url), causes(&error));
    if error.is_builder() {
        let message = format!("the request to {who} cannot be sent: {causes}; check the base URL");
        return ProviderError::new(ProviderErrorKind::InvalidRequest, message);
    }
    if error.is_timeout() {
        let message = format!("no connection to {who} in time: {causes}");
        return ProviderError::new(ProviderErrorKind::Timeout, message);
    }
    let message = match stage {
        Stage::Send if error.is_connect() => format!("cannot connect to {who}: {causes}{}", hint(&causes)),
        Stage::Send => format!("the connection to {who} failed before it answered: {causes}"),
        Stage::Body => format!("the answer of {who} broke off: {causes}"),
    };
    ProviderError::new(ProviderErrorKind::Network, message)
}

/// Whether the connection was closed before anything of an answer came.
pub(super) fn is_closed(error: &reqwest::Error) -> bool {
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(cause) = next {
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>()
            && (hyper.is_incomplete_message() || hyper.is_closed())
        {
            return true;
        }
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
            return matches!(io.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected);
        }
        next = cause.source();
    }
    false
}

/// No head of an answer came in time.
pub(super) fn no_answer(url: &Url, limit: Duration) -> ProviderError {
    let message = format!("{} did not answer within {} s", origin(url), limit.as_secs_f32());
    ProviderError::new(ProviderErrorKind::Timeout, message)
}

/// The body was silent for too long.
pub(super) fn silent(url: &Url, limit: Duration) -> ProviderError {
    let message =
        format!("{} sent nothing for {} s in the middle of its answer", origin(url), limit.as_secs_f32());
    ProviderError::new(ProviderErrorKind::Timeout, message)
}

/// The causes of `error`, outermost first, without the layers that say nothing and without repetition.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(cause) = next {
        let said = cause.to_string();
        let known = words.iter().any(|earlier| earlier.contains(&said));
        if !said.is_empty() && !known && !said.starts_with("client error (") {
            words.push(said);
        }
        next = cause.source();
    }
    // What the client library calls the whole is in our own words already.
    if words.len() > 1 {
        words.remove(0);
    }
    words.join(": ")
}

fn hint(causes: &str) -> &'static str {
    let causes = causes.to_ascii_lowercase();
    if causes.contains("certificate") {
        "; if a proxy of yours re-signs connections, name its certificate in SSL_CERT_FILE"
    } else if causes.contains("dns") || causes.contains("lookup") {
        "; check the base URL and the network"
    } else {
        ""
    }
}
