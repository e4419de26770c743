//! Errors of providers, stores and clients.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, SessionId};

/// The kind of a provider error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum ProviderErrorKind {
    /// The API key is missing, invalid or not permitted.
    Auth,
    /// Too many requests. Retry later.
    RateLimited,
    /// The service has no capacity. Retry later.
    Overloaded,
    /// The prompt does not fit into the context window.
    ContextOverflow,
    /// The service rejects the request.
    InvalidRequest,
    /// The connection failed or was lost.
    Network,
    /// No data arrived in time.
    Timeout,
    /// The service rejects the content.
    ContentFilter,
    /// The answer violates the wire format.
    Malformed,
    /// The call was canceled.
    Cancelled,
    /// Anything else the service reports.
    Api,
}

/// A failed model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[error("{message}")]
pub struct ProviderError {
    /// The kind of error.
    pub kind: ProviderErrorKind,
    /// The service's message, without secrets.
    pub message: String,
    /// The retry delay the service asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl ProviderError {
    /// An error of `kind`.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after_ms: None }
    }

    /// Adds the retry delay the service asks for.
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

    /// The retry delay the service asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after_ms.map(Duration::from_millis)
    }
}

/// An event could not be saved.
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

/// Why a host or session did not do what a client requested. JSON: tagged by `type`, so that a remote client can match
/// on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum ClientError {
    /// A run is in progress, so this has to wait.
    #[error("{message}")]
    Busy {
        /// What to do.
        message: String,
    },
    /// The approval was already answered or never requested.
    #[error("approval {request_id} is not open: it was already answered or never requested")]
    UnknownApproval {
        /// Which one.
        request_id: ApprovalId,
    },
    /// No child of that session id is running.
    #[error(
        "no child with session {session_id} is running: it has ended, or it is not a child of this session"
    )]
    UnknownChild {
        /// Which one.
        session_id: SessionId,
    },
    /// The session or the host does not allow it.
    #[error("{message}")]
    NotAllowed {
        /// Why, and what to do.
        message: String,
    },
    /// There is nothing with this name.
    #[error("{message}")]
    NotFound {
        /// What was not found.
        message: String,
    },
    /// The session is closed, or the connection to it is.
    #[error("{message}")]
    #[serde(rename = "gone")]
    Closed {
        /// What happened.
        message: String,
    },
    /// The request is invalid.
    #[error("{message}")]
    Invalid {
        /// Why it is invalid.
        message: String,
    },
    /// The subscriber fell behind and can subscribe again after this event.
    #[error("the subscriber fell behind; subscribe again after event {seq}")]
    CutOff {
        /// The last durable event that was delivered.
        seq: u64,
    },
    /// What follows that event cannot be shown, because the log does not have it. A snapshot says where the session is now; subscribe
    /// from its cursor.
    #[error("the log has no events after {seq}; take a snapshot and subscribe from its cursor")]
    Lost {
        /// The last durable event that the subscriber was given.
        seq: u64,
    },
    /// It was tried and failed.
    #[error("{message}")]
    Failed {
        /// What happened, and what to do.
        message: String,
    },
    /// An error added by a newer version.
    #[error("the session reports an error that this version does not support")]
    #[serde(other)]
    Unknown,
}

impl ClientError {
    /// The session is closed, or the connection to it is.
    pub fn closed(message: impl std::fmt::Display) -> Self {
        Self::Closed { message: message.to_string() }
    }

    /// The request is invalid.
    pub fn invalid(message: impl std::fmt::Display) -> Self {
        Self::Invalid { message: message.to_string() }
    }

    /// The operation failed.
    pub fn failed(message: impl std::fmt::Display) -> Self {
        Self::Failed { message: message.to_string() }
    }
}
