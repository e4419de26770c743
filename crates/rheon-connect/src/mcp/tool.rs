//! `McpTool`: a tool as its server describes it, cleaned.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::clean::{clean, clean_schema};
use super::names::unique_tool_name;

const DESCRIPTION_CHARS_MAX: usize = 4_096;
const LABEL_CHARS_MAX: usize = 100;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTool {
    /// The name that models and rules use: `mcp__server__tool`.
    pub name: String,
    /// The server's own name for it.
    pub remote_name: String,
    /// The name a person reads.
    pub label: String,
    pub description: String,
    /// The schema of its arguments, an object.
    pub schema: Arc<Value>,
}

impl McpTool {
    /// About how many tokens its definition costs in every request.
    pub fn tokens(&self) -> u64 {
        let bytes = self.name.len() + self.description.len() + self.schema.to_string().len();
        (bytes as u64).div_ceil(4)
    }

    /// A tool of the server `server`. `None` if its schema is nested too deeply.
    pub(super) fn of(server: &str, tool: &rmcp::model::Tool, taken: &mut HashSet<String>) -> Option<Self> {
        let mut schema = clean_schema(&tool.input_schema, DESCRIPTION_CHARS_MAX)?;
        complete(&mut schema);
        let title = tool.title.as_deref().or(tool.annotations.as_ref().and_then(|it| it.title.as_deref()));
        let label = format!("{server}: {}", title.unwrap_or(&tool.name));
        let description = clean(tool.description.as_deref().unwrap_or_default(), DESCRIPTION_CHARS_MAX);
        Some(Self {
            name: unique_tool_name(server, &tool.name, taken),
            remote_name: tool.name.to_string(),
            label: clean(&label.replace(['\n', '\t'], " "), LABEL_CHARS_MAX),
            description,
            schema: Arc::new(Value::Object(schema)),
        })
    }
}

/// Services want an object with properties.
fn complete(schema: &mut Map<String, Value>) {
    schema.entry("type").or_insert_with(|| "object".into());
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
}
