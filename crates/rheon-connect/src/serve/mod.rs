//! The MCP server layer: a program's own service, spoken to over lines or HTTP, in every version of the protocol.

mod caller;
mod handler;
mod http;
mod lines;
mod refusal;
mod round;
mod service;

pub use caller::{McpCaller, McpQuestion};
pub use http::{HttpService, serve_http};
pub use lines::serve_lines;
pub use refusal::McpRefusal;
pub use service::{McpRequest, McpService, McpServiceInfo};
