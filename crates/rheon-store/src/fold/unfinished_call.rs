//! `UnfinishedCall`: a tool call whose end is not known.

use std::sync::Arc;

use rheon_types::{Effect, RunId, ToolCallId, ToolName};
use serde_json::Value;

/// A tool call whose end is not known: it began, and then the program was gone.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedCall {
    /// The run it belongs to.
    pub run_id: RunId,
    /// The call.
    pub call_id: ToolCallId,
    /// The tool.
    pub tool_name: ToolName,
    /// What it was called with.
    pub arguments: Arc<Value>,
    /// What the tool does to the world.
    pub effect: Effect,
}
