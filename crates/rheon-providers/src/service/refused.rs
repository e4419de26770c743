//! `Refused`: a request that got no response, or one that is an error.

use http::StatusCode;
use rheon_types::{ProviderError, ProviderErrorKind};

/// A request that got no response, or one that is an error.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) error: ProviderError,
    /// The status, if the service answered.
    pub(super) status: Option<StatusCode>,
    /// What the service says, without secrets.
    pub(super) body: String,
}

impl Refused {
    /// Whether it refused the credentials: a token may have expired.
    pub(super) fn is_stale(&self) -> bool {
        let is_expired = self.error.kind == ProviderErrorKind::Auth
            && self.error.message.to_lowercase().contains("expired");
        self.status == Some(StatusCode::UNAUTHORIZED) || (self.status.is_some() && is_expired)
    }
}

impl From<ProviderError> for Refused {
    fn from(error: ProviderError) -> Self {
        Self { error, status: None, body: String::new() }
    }
}
