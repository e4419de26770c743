//! The errors that cross a seam: a provider's, a store's, a worker's, a client's.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What kind of trouble a provider reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum ProviderErrorKind {
    /// The key is missing, wrong or not allowed to do this.
    Auth,
    /// Too many requests; worth waiting.
    RateLimited,
    /// The service has no capacity now; worth waiting.
    Overloaded,
    /// The prompt does not fit the model's window.
    ContextOverflow,
    /// The service refuses the request as it stands.
    InvalidRequest,
    /// The connection failed or broke off.
    Network,
    /// Nothing came for too long.
    Timeout,
    /// The service refuses the content.
    ContentFilter,
    /// The answer is not what the wire format promises.
    Malformed,
    /// The call was cancelled.
    Cancelled,
    /// Anything else the service reports.
    Api,
}

/// A failed model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[error("{message}")]
pub struct ProviderError {
    /// What kind of trouble.
    pub kind: ProviderErrorKind,
    /// The service's own words, without secrets.
    pub message: String,
    /// How long the service asks to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl ProviderError {
    /// An error of `kind`.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after_ms: None }
    }

    /// The same error with the service's request to wait.
    pub fn with_retry_after_ms(mut self, millis: u64) -> Self {
        self.retry_after_ms = Some(millis);
        self
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self.kind {
            ProviderErrorKind::RateLimited
            | ProviderErrorKind::Overloaded
            | ProviderErrorKind::Network
            | ProviderErrorKind::Timeout
            | ProviderErrorKind::Malformed => true,
            ProviderErrorKind::Auth
            | ProviderErrorKind::ContextOverflow
            | ProviderErrorKind::InvalidRequest
            | ProviderErrorKind::ContentFilter
            | ProviderErrorKind::Cancelled
            | ProviderErrorKind::Api => false,
        }
    }

    /// How long the service asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after_ms.map(Duration::from_millis)
    }
}

/// A store that could not keep what it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[error("{message}")]
pub struct StoreError {
    /// What happened, to which file, and what to do.
    pub message: String,
}

impl StoreError {
    /// An error that says `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// A worker that could not do its task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("worker {worker} failed: {message}")]
pub struct WorkerError {
    /// Which worker.
    pub worker: String,
    /// What happened.
    pub message: String,
}

/// A client that could not reach its session, or was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The session is gone or cannot be reached.
    #[error("the session cannot be reached: {0}")]
    Unreachable(String),
    /// The session refuses the command as things stand.
    #[error("the session refuses: {0}")]
    Refused(String),
}
