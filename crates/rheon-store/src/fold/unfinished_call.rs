//! `UnfinishedCall`: a tool call whose outcome is unknown.

use std::sync::Arc;

use rheon_types::{Effect, RunId, ToolCallId, ToolName};
use serde_json::Value;

/// A tool call that started before the program was interrupted, so that its outcome is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedCall {
    pub run_id: RunId,
    pub call_id: ToolCallId,
    pub tool_name: ToolName,
    pub arguments: Arc<Value>,
    pub effect: Effect,
}
