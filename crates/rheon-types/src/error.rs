//! The errors that cross a seam: a provider's, a store's, a client's.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::id::{ApprovalId, SessionId};

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

/// Why a host or a session did not do what a client asked. JSON: tagged by `type`, so that a remote client can decide by it.
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
    /// The approval is answered already, or was never asked for.
    #[error("approval {request_id} is not open: it was answered already or never asked for")]
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
    /// There is nothing of that name.
    #[error("{message}")]
    NotFound {
        /// What was looked for.
        message: String,
    },
    /// The session is closed, or the connection to it is.
    #[error("{message}")]
    Gone {
        /// What happened.
        message: String,
    },
    /// The request makes no sense here.
    #[error("{message}")]
    Invalid {
        /// What is wrong with it.
        message: String,
    },
    /// The subscriber fell behind; it can subscribe again after this event.
    #[error("the subscriber fell behind; subscribe again after event {seq}")]
    CutOff {
        /// The last durable event that it was given.
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
    /// An error of a newer version.
    #[error("the session reports an error that this version does not know")]
    #[serde(other)]
    Unknown,
}

impl ClientError {
    /// The session is closed, or the connection to it is.
    pub fn gone(message: impl std::fmt::Display) -> Self {
        Self::Gone { message: message.to_string() }
    }

    /// The request makes no sense here.
    pub fn invalid(message: impl std::fmt::Display) -> Self {
        Self::Invalid { message: message.to_string() }
    }

    /// It was tried and failed.
    pub fn failed(message: impl std::fmt::Display) -> Self {
        Self::Failed { message: message.to_string() }
    }
}
