//! `McpService`: what a program offers to other programs.

use std::sync::Arc;

use rheon_types::BoxFuture;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::caller::McpCaller;

/// What a program offers. The layer speaks the protocol; the service answers requests with the parameters and results that the
/// specification has for them.
pub trait McpService: Send + Sync + 'static {
    fn about(&self) -> McpServiceInfo;

    /// Changes whenever the list of tools does, for services that promise to tell.
    fn tool_changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Answers `tools/list`, `tools/call` and whatever else the capabilities promise.
    fn answer(
        self: Arc<Self>,
        request: McpRequest,
        caller: McpCaller,
    ) -> BoxFuture<'static, Result<Value, McpRefusal>>;
}

/// What a service says about itself.
#[derive(Debug, Clone, Default)]
pub struct McpServiceInfo {
    pub name: String,
    pub version: String,
    /// How its tools are to be used.
    pub instructions: Option<String>,
    /// As in the protocol: `{ "tools": {} }`.
    pub capabilities: Value,
}

/// A request of another program.
#[derive(Debug, Clone, PartialEq)]
pub struct McpRequest {
    pub method: String,
    pub params: Value,
}

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct McpRefusal {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
}

impl McpRefusal {
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The service has no such method.
    pub fn unknown_method() -> Self {
        Self::new(ErrorCode::METHOD_NOT_FOUND.0, "unknown method")
    }

    /// The parameters are wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS.0, message)
    }

    /// The service failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR.0, message)
    }

    /// The other program lacks a capability that the request needs.
    pub fn lacks(capability: &str) -> Self {
        let message = format!("this needs the capability {capability:?} of the client");
        let data = json!({ "requiredCapabilities": { capability: {} } });
        Self { data: Some(data), ..Self::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY.0, message) }
    }
}

impl From<McpRefusal> for ErrorData {
    fn from(refusal: McpRefusal) -> Self {
        Self::new(ErrorCode(refusal.code), refusal.message, refusal.data)
    }
}
