//! `Tool`: something the model can do.

use std::sync::Arc;

use serde_json::Value;

use crate::answer::BoxFuture;
use crate::tool::{Effect, ToolError, ToolResult};
use crate::tool_context::{Claim, ToolContext};

/// Something the model can do.
pub trait Tool: Send + Sync {
    /// The name the model calls it by; unique among an agent's tools.
    fn name(&self) -> &str;

    /// The name a person reads.
    fn label(&self) -> &str {
        self.name()
    }

    /// What it does and when to use it, for the model.
    fn description(&self) -> &str;

    /// A JSON Schema (an object) of the arguments. Asked for once: when an agent is built, or when the version of a
    /// [`ToolSource`](super::ToolSource) that has the tool is first used.
    fn parameters_schema(&self) -> Value;

    /// What a run of it does to the world. Unsafe unless it says otherwise. Asked for once, with the schema.
    fn effect(&self) -> Effect {
        Effect::Unsafe
    }

    /// Takes what a call must have to itself, for instance a file, from before `tool.start` until it has ended. An error
    /// blocks the call. Does not wait.
    fn claim(&self, _arguments: &Value, _context: &ToolContext) -> Result<Claim, ToolError> {
        Ok(Claim::default())
    }

    /// Runs it. `arguments` fit the schema. The future is dropped if the run is cancelled and the tool does not return
    /// soon after `context.cancel` fires, so whatever must be undone belongs into a drop guard.
    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}
