//! Tool results, tool errors, and the side effects of tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::{Content, text_of};
use crate::id::RunId;

/// A tool's side effects. They decide which calls may be repeated after a crash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// Read-only.
    Pure,
    /// Running it again leaves the same state.
    Idempotent,
    /// Every run can change something.
    #[default]
    Unsafe,
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ToolResult {
    /// Content for the model.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub content: Vec<Content>,
    /// For user interfaces (a diff, an exit code); never sent to the model.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::json()"))]
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// The run of a sub-agent that the tool started.
    #[serde(default, alias = "child_loop_id", skip_serializing_if = "Option::is_none")]
    pub child_run_id: Option<RunId>,
}

impl ToolResult {
    /// A result of one block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], details: Value::Null, child_run_id: None }
    }

    /// Adds details for user interfaces.
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// The text blocks, joined.
    pub fn as_text(&self) -> String {
        text_of(&self.content)
    }
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolResult {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Why a call failed. The model sees all errors except `Fatal` and can try something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "kind", content = "message", rename_all = "camelCase")]
pub enum ToolError {
    /// The tool ran and failed.
    #[error("{0}")]
    Failed(String),
    /// The tool does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The arguments do not match the tool's schema.
    #[error("{0}")]
    InvalidArgs(String),
    /// The call was refused by policy, by a hook or by the user.
    #[error("{0}")]
    Denied(String),
    /// The call was skipped or stopped: the run was canceled, or a user message came first.
    #[error("{0}")]
    Cancelled(String),
    /// The tool took too long and was stopped.
    #[error("{0}")]
    TimedOut(String),
    /// The tool's code panicked.
    #[error("{0}")]
    Panicked(String),
    /// The run cannot continue.
    #[error("{0}")]
    Fatal(String),
}

impl ToolError {
    /// The error's kind, as in its JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Failed(_) => "failed",
            Self::NotFound(_) => "notFound",
            Self::InvalidArgs(_) => "invalidArgs",
            Self::Denied(_) => "denied",
            Self::Cancelled(_) => "cancelled",
            Self::TimedOut(_) => "timedOut",
            Self::Panicked(_) => "panicked",
            Self::Fatal(_) => "fatal",
        }
    }
}

/// The error as the model reads it; its kind goes into `details`.
impl From<&ToolError> for ToolResult {
    fn from(error: &ToolError) -> Self {
        ToolResult::text(error.to_string()).with_details(serde_json::json!({ "error": error.kind() }))
    }
}
