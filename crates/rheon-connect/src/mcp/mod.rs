//! The MCP client: connections, their calls, and the servers of a session.

mod active;
mod adapter;
mod challenge;
mod child;
mod clean;
mod client;
mod connect;
mod content;
mod elicit;
mod error;
mod exchange;
mod handler;
mod http;
mod http_client;
mod lines;
mod login;
mod login_store;
mod names;
mod offers;
mod oversize;
mod saved_login;
mod search;
mod server;
mod servers;
mod spec;
mod sse;
mod stdio;
mod tool;
mod watched;

pub(crate) use clean::causes as error_causes;
pub(crate) use clean::clean as clean_text;
pub(crate) use http_client::{address as http_address, http_client as http_client_for};

pub use adapter::McpToolAdapter;
pub use client::{McpClient, McpServerInfo};
pub use error::McpError;
pub use exchange::MessageExchange;
pub use login::{LoginAttempt, LoginRequest};
pub use login_store::{LoginStore, MemoryLogin};
pub use offers::{McpPrompt, McpPromptArgument, McpResource};
pub use server::{McpServerView, McpStatus};
pub use servers::{McpOptions, McpServers};
pub use spec::{
    HttpEndpoint, McpConnection, McpProtocol, McpServerSpec, McpTimeouts, McpToolFilter, StdioProgram,
};
pub use tool::McpTool;
