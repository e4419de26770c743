//! `AuthError`: why a request cannot prove who sends it. Never holds a secret.

use rheon_types::{ProviderError, ProviderErrorKind};

/// Why a request cannot prove who sends it, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AuthError {
    /// Nothing is configured that could give a key.
    #[error("no key for {vendor}: {remedy}")]
    Missing {
        /// Which service.
        vendor: String,
        /// What to set.
        remedy: String,
    },
    /// There is a key, but it cannot be sent.
    #[error("the key for {vendor} from {origin} cannot be sent: {problem}; set it again")]
    Invalid {
        /// Which service.
        vendor: String,
        /// Where the key came from.
        origin: String,
        /// What is wrong with it, without showing it.
        problem: &'static str,
    },
    /// A command that should print a key does not.
    #[error("{setting} of {vendor} {problem}")]
    Command {
        /// Which service.
        vendor: String,
        /// Which setting holds the command.
        setting: String,
        /// What happened, and the redacted beginning of what the command wrote.
        problem: String,
    },
    /// A file of credentials that cannot be used.
    #[error("cannot use the credentials in {path}: {problem}")]
    File {
        /// Which file.
        path: String,
        /// Why, and what to do.
        problem: String,
    },
    /// The vendor's description cannot be followed.
    #[error("the auth of {vendor} is not valid: {problem}")]
    Spec {
        /// Which service.
        vendor: String,
        /// Why.
        problem: String,
    },
    /// A server that gives tokens refused.
    #[error("{server} gave no token: status {status}: {message}")]
    Refused {
        /// Which server.
        server: String,
        /// The status of its answer.
        status: u16,
        /// Its words, redacted and shortened.
        message: String,
    },
    /// A server that gives tokens could not be reached, or broke off.
    #[error("cannot get a token from {server}: {problem}")]
    Unreachable {
        /// Which server.
        server: String,
        /// Why.
        problem: String,
    },
    /// A server that gives tokens did not answer in time.
    #[error("{server} gave no token within {seconds} s")]
    TimedOut {
        /// Which server.
        server: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A request that cannot be signed.
    #[error("the request cannot be signed: {0}")]
    Signature(String),
}

impl AuthError {
    /// What kind of trouble this is for whoever made the request.
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
