//! `McpRefusal`: why a request of another program is not answered.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};

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
