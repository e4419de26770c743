//! `McpServer`: a server of further tools, as data.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::origin::SettingOrigin;

/// A server of further tools.
#[derive(Debug, Clone)]
pub struct McpServer {
    pub transport: McpTransport,
    pub enabled: bool,
    /// Whether a session is refused that cannot reach it.
    pub required: bool,
    /// The startup timeout; a default if absent.
    pub startup_timeout: Option<Duration>,
    /// The timeout of one call; a default if absent.
    pub tool_timeout: Option<Duration>,
    /// Its only tools that are used; all if absent.
    pub enabled_tools: Option<Vec<String>>,
    pub disabled_tools: Vec<String>,
    pub origin: SettingOrigin,
}

/// How a server is reached. Values of variables and headers may be secrets.
#[derive(Debug, Clone)]
pub enum McpTransport {
    /// A program of this machine, over its standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Variables that it gets besides the usual ones.
        env: BTreeMap<String, SecretString>,
        /// Where it runs; the working directory if absent.
        directory: Option<PathBuf>,
    },
    Remote {
        kind: McpRemote,
        url: String,
        headers: BTreeMap<String, SecretString>,
    },
    /// The operations of an OpenAPI document.
    OpenApi {
        /// A file, or an address.
        document: String,
        /// The address of the service; the document's own if absent.
        base_url: Option<String>,
        /// Sent with every request.
        headers: BTreeMap<String, SecretString>,
    },
    /// A server inside the program that drives the session.
    Client,
}

/// The protocol of a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpRemote {
    /// Streamable HTTP.
    Http,
    /// Server-sent events, as older servers do.
    Sse,
    WebSocket,
}
