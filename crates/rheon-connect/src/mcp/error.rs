//! `McpError`: why a server cannot be reached or a request failed.

use std::io;
use std::time::Duration;

/// Why a server cannot be reached or a request failed. Texts of servers in it are cleaned and short.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("cannot start {program}: {source}")]
    Start { program: String, source: io::Error },
    #[error("invalid address {url:?}: {problem}")]
    Address { url: String, problem: String },
    #[error("invalid header {name:?}")]
    Header { name: String },
    #[error("cannot set up the HTTP client: {0}")]
    HttpClient(String),
    /// The handshake failed.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The server wants the user to log in first.
    #[error("the server requires authorization; log in, or set its Authorization header")]
    AuthorizationRequired {
        /// What the server said about it, in the words of HTTP.
        challenge: String,
    },
    /// The login does not reach that far.
    #[error("the login lacks rights that the server wants ({scope}); log in again for them")]
    ScopeRequired { scope: String },
    #[error("cannot log in: {0}")]
    Login(String),
    #[error("no answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// The server reports an error.
    #[error("{0}")]
    Server(String),
    /// The connection ended while a request was open.
    #[error("the connection to the server ended before it answered{0}")]
    Closed(String),
    #[error("the server's answer does not fit the request")]
    UnexpectedAnswer,
    #[error("the server asked for input {0} times without finishing")]
    InputRounds(usize),
    #[error("canceled")]
    Canceled,
}

impl McpError {
    /// Whether another attempt could succeed without a change of the configuration.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Address { .. }
            | Self::Header { .. }
            | Self::HttpClient(_)
            | Self::ScopeRequired { .. }
            | Self::AuthorizationRequired { .. } => false,
            Self::Start { source, .. } => !matches!(
                source.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput
            ),
            Self::Connect(_)
            | Self::Login(_)
            | Self::TimedOut(_)
            | Self::Server(_)
            | Self::Closed(_)
            | Self::UnexpectedAnswer
            | Self::InputRounds(_)
            | Self::Canceled => true,
        }
    }
}
