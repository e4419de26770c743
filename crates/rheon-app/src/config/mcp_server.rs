//! `McpServer`: a server of further tools, as data.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::place::Origin;

/// A server of further tools.
#[derive(Debug, Clone)]
pub struct McpServer {
    /// How it is reached.
    pub transport: McpTransport,
    /// Whether it is used at all.
    pub enabled: bool,
    /// Whether a session is refused that cannot reach it.
    pub required: bool,
    /// How long it may take to begin; what is usual if absent.
    pub startup_timeout: Option<Duration>,
    /// How long one call may take; what is usual if absent.
    pub tool_timeout: Option<Duration>,
    /// Its only tools that are used; all if absent.
    pub enabled_tools: Option<Vec<String>>,
    /// Its tools that are not used.
    pub disabled_tools: Vec<String>,
    /// Where it is configured.
    pub origin: Origin,
}

/// How a server is reached. Values of variables and headers may be secrets.
#[derive(Debug, Clone)]
pub enum McpTransport {
    /// A program of this machine, over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it gets besides the usual ones.
        env: BTreeMap<String, SecretString>,
        /// Where it runs; the working folder if absent.
        folder: Option<PathBuf>,
    },
    /// A server at an address.
    Remote {
        /// What it speaks.
        kind: McpRemote,
        /// Its address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, SecretString>,
    },
}

/// What a server at an address speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpRemote {
    /// Streamable HTTP.
    Http,
    /// Server-sent events, as older servers do.
    Sse,
    /// WebSocket.
    WebSocket,
}
