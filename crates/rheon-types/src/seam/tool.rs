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

    /// Other names that models call it by, because they know such a tool from elsewhere. A tool whose own name it is comes
    /// first; upper and lower case do not matter.
    fn other_names(&self) -> &[&str] {
        &[]
    }

    /// The name a person reads.
    fn label(&self) -> &str {
        self.name()
    }

    /// What the tool does and when to use it, written for the model.
    fn description(&self) -> &str;

    /// A JSON Schema (an object) for the arguments. Called once: when an agent is built, or when the version of a
    /// [`ToolSource`](super::ToolSource) that has the tool is first used.
    fn parameters_schema(&self) -> Value;

    /// Rewrites arguments that do not match the schema, for instance those of the same tool of another agent. `None` if it
    /// cannot. The result is checked again.
    fn adapt(&self, _arguments: &Value) -> Option<Value> {
        None
    }

    /// The tool's side effects; unsafe by default. Called once, together with the schema.
    fn effect(&self) -> Effect {
        Effect::Unsafe
    }

    /// Whether a call can succeed at all, checked before the user is asked about it: an edit of text that is not there is not
    /// worth a question. The call may reach whatever the user is asked for. Must not wait and must not change anything.
    fn precheck(&self, _arguments: &Value) -> Result<(), ToolError> {
        Ok(())
    }

    /// Claims what a call needs exclusively, such as a file, from before `tool.start` until the call ends. An error
    /// blocks the call. Must not wait.
    fn claim(&self, _arguments: &Value, _context: &ToolContext) -> Result<Claim, ToolError> {
        Ok(Claim::default())
    }

    /// Runs the tool. `arguments` match the schema. If the run is canceled and the tool does not return soon after
    /// `context.cancel` fires, the future is dropped, so put cleanup into a drop guard.
    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}
