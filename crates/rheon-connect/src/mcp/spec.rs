//! `McpServerSpec`: a server as configured: how it is reached, how long it may take, which of its tools are used.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::exchange::MessageExchange;
use super::login_store::LoginStore;

/// A server as configured.
#[derive(Debug, Clone)]
pub struct McpServerSpec {
    /// Unique; part of the names of its tools.
    pub name: String,
    pub connection: McpConnection,
    pub timeouts: McpTimeouts,
    pub filter: McpToolFilter,
    pub protocol: McpProtocol,
}

impl McpServerSpec {
    /// A server with the usual timeouts, all of whose tools are used.
    pub fn new(name: impl Into<String>, connection: McpConnection) -> Self {
        let (timeouts, filter) = (McpTimeouts::default(), McpToolFilter::default());
        Self { name: name.into(), connection, timeouts, filter, protocol: McpProtocol::default() }
    }
}

/// How a server is reached.
#[derive(Clone)]
pub enum McpConnection {
    /// A program of this machine, over its standard input and output.
    Stdio(StdioProgram),
    /// Streamable HTTP.
    Http(HttpEndpoint),
    /// A server inside the program that drives this session.
    Exchange(Arc<dyn MessageExchange>),
}

impl fmt::Debug for McpConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(program) => program.fmt(f),
            Self::Http(endpoint) => endpoint.fmt(f),
            Self::Exchange(_) => f.write_str("Exchange"),
        }
    }
}

/// A server that is a program.
#[derive(Debug, Clone)]
pub struct StdioProgram {
    /// Looked up in the `PATH` of `environment` if it has no directory.
    pub command: String,
    pub arguments: Vec<String>,
    /// The whole environment; nothing else is passed on.
    pub environment: BTreeMap<String, SecretString>,
    /// The working directory; this process's own if absent.
    pub directory: Option<PathBuf>,
    /// Gets what it writes to its standard error.
    pub log: Option<PathBuf>,
}

/// A server at an address.
#[derive(Debug, Clone)]
pub struct HttpEndpoint {
    pub url: String,
    /// Sent with every request.
    pub headers: BTreeMap<String, SecretString>,
    /// Where the user's login is kept. Without one, a login is not possible.
    pub login: Option<Arc<dyn LoginStore>>,
}

/// Which version of the protocol a server is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum McpProtocol {
    /// The newest first, then older ones.
    #[default]
    NewestFirst,
    /// 2025-11-25 and older, with the handshake of those.
    Initialize,
}

/// How long a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpTimeouts {
    /// From the start of the connection until its tools are listed.
    pub startup: Duration,
    /// One call, counted from its last sign of progress. Time that a person takes to answer does not count.
    pub call: Duration,
}

impl Default for McpTimeouts {
    fn default() -> Self {
        Self { startup: Duration::from_secs(30), call: Duration::from_secs(600) }
    }
}

/// Which tools of a server are used, by the names that the server gives them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpToolFilter {
    /// The only ones; all if absent.
    pub only: Option<Vec<String>>,
    pub without: Vec<String>,
}

impl McpToolFilter {
    pub(super) fn accepts(&self, name: &str) -> bool {
        let is_listed = |list: &[String]| list.iter().any(|entry| entry == name);
        self.only.as_deref().is_none_or(is_listed) && !is_listed(&self.without)
    }
}
