//! `Tool`: a tool as services accept it on any wire: a valid unique name and an object schema.

use std::borrow::Cow;
use std::collections::HashSet;

use rheon_types::{Request, ToolName};
use serde_json::Value;

use super::tool_schema::arguments_schema;
use crate::tool_name::ToolNameRule;

/// The rule for tool names on all wires.
pub(super) const TOOL_NAMES: ToolNameRule = ToolNameRule::Word64;

/// A tool, ready to send.
#[derive(Debug)]
pub(super) struct Tool<'a> {
    /// As the service accepts it.
    pub(super) name: Cow<'a, str>,
    /// May be empty.
    pub(super) description: &'a str,
    /// The JSON Schema of its parameters: an object with properties.
    pub(super) schema: Cow<'a, Value>,
}

/// The tools of `request`. Of several tools with the same name, only the first is sent: services refuse duplicates,
/// and a call would be ambiguous.
pub(super) fn tools(request: &Request) -> Vec<Tool<'_>> {
    let mut names = HashSet::with_capacity(request.tools.len());
    let unique = request.tools.iter().filter(|tool| names.insert(tool.name.as_str()));
    unique
        .map(|tool| Tool {
            name: name(&tool.name),
            description: &tool.description,
            schema: arguments_schema(&tool.parameters),
        })
        .collect()
}

/// A tool name as the service accepts it.
pub(super) fn name(name: &ToolName) -> Cow<'_, str> {
    TOOL_NAMES.apply(name.as_str())
}
