//! `AuthError`: why a request cannot be authenticated. Never contains a secret.

use rheon_types::{ProviderError, ProviderErrorKind};

/// Why a request cannot be authenticated, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AuthError {
    /// No key is configured.
    #[error("no key for {vendor}: {remedy}")]
    Missing {
        vendor: String,
        /// What to set.
        remedy: String,
    },
    /// The key cannot be sent.
    #[error("the key for {vendor} from {origin} cannot be sent: {problem}; set it again")]
    Invalid {
        vendor: String,
        origin: String,
        /// What is wrong with it, without showing it.
        problem: &'static str,
    },
    /// A command that should print a key failed.
    #[error("{setting} of {vendor} {problem}")]
    Command {
        vendor: String,
        /// The setting that holds the command.
        setting: String,
        /// What happened, and the redacted start of the command's output.
        problem: String,
    },
    /// An unusable credentials file.
    #[error("cannot use the credentials in {path}: {problem}")]
    File {
        path: String,
        /// The cause, and what to do.
        problem: String,
    },
    /// The vendor's auth section is invalid.
    #[error("invalid auth for {vendor}: {problem}")]
    Spec { vendor: String, problem: String },
    /// A token server refused the request.
    #[error("{server} refused the token request: status {status}: {message}")]
    Refused {
        server: String,
        status: u16,
        /// The server's message, redacted and shortened.
        message: String,
    },
    /// A token server could not be reached, or the connection broke.
    #[error("cannot get a token from {server}: {problem}")]
    Unreachable { server: String, problem: String },
    /// A token server did not respond in time.
    #[error("{server} did not respond within {seconds} s")]
    TimedOut { server: String, seconds: u64 },
    /// The request cannot be signed.
    #[error("cannot sign the request: {0}")]
    Signature(String),
}

impl AuthError {
    /// The kind of error the caller sees.
    pub(crate) fn kind(&self) -> ProviderErrorKind {
        match self {
            Self::Missing { .. }
            | Self::Invalid { .. }
            | Self::Command { .. }
            | Self::File { .. }
            | Self::Spec { .. }
            | Self::Signature(_) => ProviderErrorKind::Auth,
            Self::Refused { status: 429, .. } => ProviderErrorKind::RateLimited,
            Self::Refused { status: 500.., .. } => ProviderErrorKind::Overloaded,
            Self::Refused { .. } => ProviderErrorKind::Auth,
            Self::Unreachable { .. } => ProviderErrorKind::Network,
            Self::TimedOut { .. } => ProviderErrorKind::Timeout,
        }
    }
}

impl From<AuthError> for ProviderError {
    fn from(error: AuthError) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}
