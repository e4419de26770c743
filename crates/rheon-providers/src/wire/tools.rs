//! `Tool`: a tool as services take it, whatever the wire: with a name that fits, once, and with a schema of an object.

use std::borrow::Cow;
use std::collections::HashSet;

use rheon_types::{Request, ToolName};
use serde_json::Value;

use super::tool_schema::arguments_schema;
use crate::tool_name::ToolNameRule;

/// The names that all wires send.
pub(super) const TOOL_NAMES: ToolNameRule = ToolNameRule::Word64;

/// A tool, fit to send.
#[derive(Debug)]
pub(super) struct Tool<'a> {
    /// Its name, as the service takes it.
    pub(super) name: Cow<'a, str>,
    /// What it does; may be empty.
    pub(super) description: &'a str,
    /// A JSON Schema of its arguments: an object with properties.
    pub(super) schema: Cow<'a, Value>,
}

/// The tools of `request`. Of several with one name only the first is sent: services refuse the request otherwise, and a call
/// could mean only one of them.
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

/// A tool's name, as the service takes it.
pub(super) fn name(name: &ToolName) -> Cow<'_, str> {
    TOOL_NAMES.apply(name.as_str())
}
