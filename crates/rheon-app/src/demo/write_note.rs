//! The tool `write_note`: keeps a text under a name.

use std::sync::Arc;

use rheon_types::{BoxFuture, Effect, Tool, ToolContext, ToolError, ToolResult};
use serde::Deserialize;
use serde_json::{Value, json};

use super::notes::{NoteName, Notes};

/// Keeps a text under a name.
pub(super) struct WriteNote {
    notes: Arc<Notes>,
}

#[derive(Deserialize)]
struct Arguments {
    name: String,
    text: String,
}

impl WriteNote {
    pub(super) fn new(notes: &Arc<Notes>) -> Self {
        Self { notes: Arc::clone(notes) }
    }

    fn write(&self, arguments: &Value) -> Result<ToolResult, ToolError> {
        let Arguments { name, text } =
            Arguments::deserialize(arguments).map_err(|error| ToolError::InvalidArgs(error.to_string()))?;
        self.notes.write(&NoteName::parse(&name)?, &text)?;
        Ok(ToolResult::text(format!("kept {name} ({} bytes)", text.len())))
    }
}

impl Tool for WriteNote {
    fn name(&self) -> &str {
        "write_note"
    }

    fn description(&self) -> &str {
        include_str!("write_note.md").trim()
    }

    fn parameters_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "pattern": NoteName::PATTERN },
                "text": { "type": "string" },
            },
            "required": ["name", "text"],
            "additionalProperties": false,
        })
    }

    fn effect(&self) -> Effect {
        Effect::Idempotent
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.write(&arguments) })
    }
}
