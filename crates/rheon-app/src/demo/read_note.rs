//! The tool `read_note`: finds the text kept under a name.

use std::sync::Arc;

use rheon_types::{BoxFuture, Effect, Tool, ToolContext, ToolError, ToolResult};
use serde::Deserialize;
use serde_json::{Value, json};

use super::notes::{NoteName, Notes};

/// Finds the text kept under a name.
pub(super) struct ReadNote {
    notes: Arc<Notes>,
}

#[derive(Deserialize)]
struct Arguments {
    name: String,
}

impl ReadNote {
    pub(super) fn new(notes: &Arc<Notes>) -> Self {
        Self { notes: Arc::clone(notes) }
    }

    fn read(&self, arguments: &Value) -> Result<ToolResult, ToolError> {
        let Arguments { name } =
            Arguments::deserialize(arguments).map_err(|error| ToolError::InvalidArgs(error.to_string()))?;
        Ok(ToolResult::text(self.notes.read(&NoteName::parse(&name)?)?))
    }
}

impl Tool for ReadNote {
    fn name(&self) -> &str {
        "read_note"
    }

    fn description(&self) -> &str {
        include_str!("read_note.md").trim()
    }

    fn parameters_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "name": { "type": "string", "pattern": NoteName::PATTERN } },
            "required": ["name"],
            "additionalProperties": false,
        })
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.read(&arguments) })
    }
}
