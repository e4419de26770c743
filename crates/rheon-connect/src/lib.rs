//! Tools from elsewhere: MCP servers and OpenAPI documents.
//!
//! [`McpServers`] is a [`ToolSource`](rheon_types::ToolSource): it starts the configured servers in the background, keeps
//! them running, and offers their tools as `mcp__server__tool`. The tools pass the same gate as all others. What a server
//! sends is untrusted: descriptions are cleaned, and everything has a limit. No type of the MCP SDK is part of the API.
//!
//! [`OpenApiAdapter`] makes a tool of every operation of an OpenAPI document.

#![allow(missing_docs)]

mod mcp;
mod openapi;
mod serve;

pub use mcp::{
    HttpEndpoint, LoginAttempt, LoginRequest, LoginStore, McpClient, McpConnection, McpError, McpOptions,
    McpPrompt, McpPromptArgument, McpProtocol, McpResource, McpServerInfo, McpServerSpec, McpServerView,
    McpServers, McpStatus, McpTimeouts, McpTool, McpToolAdapter, McpToolFilter, MemoryLogin, MessageExchange,
    StdioProgram,
};
pub use openapi::{
    OpenApiAdapter, OpenApiAuth, OpenApiConfig, OpenApiError, OpenApiExchange, OpenApiTools, OperationFilter,
};
pub use serve::{
    HttpService, McpCaller, McpQuestion, McpRefusal, McpRequest, McpService, McpServiceInfo, serve_http,
    serve_lines,
};
