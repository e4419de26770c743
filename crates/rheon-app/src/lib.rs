//! Turns configuration into a running session: reads files, environment variables and flags, opens a session with its model,
//! tools, rules and log, and gives clients access to it.

#![allow(missing_docs)]

pub mod config;
pub mod context;
mod demo;
pub mod doctor;
pub mod init;
pub mod memory;
pub mod models;
pub mod observe;
pub mod pipe;
pub mod policy;
mod prompt_history;
pub mod session;
pub mod sessions;
pub mod stream_json;
mod system;
pub mod worktree;

/// Tools from OpenAPI documents.
#[cfg(feature = "connect")]
pub mod openapi {
    pub use rheon_connect::{OpenApiAdapter, OpenApiConfig, OpenApiError, OpenApiTools, OperationFilter};
}

/// Logins at MCP servers, and services for other programs.
#[cfg(feature = "connect")]
pub mod mcp {
    pub use rheon_connect::{
        HttpService, LoginAttempt, LoginRequest, McpCaller, McpQuestion, McpRefusal, McpRequest, McpService,
        McpServiceInfo, serve_http, serve_lines,
    };
}

pub use demo::{DemoError, DemoFiles, DemoOptions, DemoReport, demo};
pub use prompt_history::PromptHistory;
