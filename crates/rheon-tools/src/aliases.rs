//! The names and arguments by which models know our tools from elsewhere, foremost from Claude Code.

use std::sync::Arc;

use rheon_policy::known_tool;
use rheon_types::{BoxFuture, Claim, Effect, Tool, ToolContext, ToolError, ToolResult};
use serde_json::{Map, Value, json};

use crate::hooks::from_claude_fields;

/// Names of other agents, besides Claude Code's, which the rules know.
const OTHER_NAMES: [(&str, &[&str]); 9] = [
    (
        "bash",
        &[
            "shell",
            "sh",
            "terminal",
            "exec",
            "execute",
            "run_command",
            "execute_command",
            "run_shell_command",
        ],
    ),
    ("read", &["read_file", "view", "view_file", "open_file", "cat"]),
    ("write", &["write_file", "create_file", "write_to_file"]),
    ("edit", &["edit_file", "replace", "str_replace", "search_replace", "replace_in_file"]),
    ("list", &["ls", "list_dir", "list_directory", "list_files"]),
    ("glob", &["find_files", "glob_search", "file_search"]),
    ("search", &["rg", "ripgrep", "grep_search", "search_files", "search_file_content"]),
    ("todo", &["todo_write", "update_todos"]),
    ("web_fetch", &["fetch", "fetch_url"]),
];

/// Other names of arguments, and ours.
const OTHER_ARGUMENTS: [(&str, &[(&str, &str)]); 7] = [
    ("bash", &[("cmd", "command"), ("script", "command"), ("is_background", "background")]),
    ("read", FILE),
    (
        "write",
        &[
            ("file", "path"),
            ("filename", "path"),
            ("filepath", "path"),
            ("text", "content"),
            ("contents", "content"),
        ],
    ),
    ("edit", FILE),
    ("list", &[("directory", "path"), ("dir", "path"), ("dir_path", "path")]),
    (
        "search",
        &[
            ("query", "pattern"),
            ("regex", "pattern"),
            ("include", "glob"),
            ("-A", "context"),
            ("-B", "context"),
        ],
    ),
    ("skill", &[("skill", "name"), ("args", "arguments")]),
];

const FILE: &[(&str, &str)] =
    &[("file", "path"), ("filename", "path"), ("filepath", "path"), ("target_file", "path")];

/// Arguments that only explain a call, or that change nothing here.
const EXPLANATIONS: [&str; 8] = [
    "description",
    "explanation",
    "justification",
    "reason",
    "prompt",
    "-n",
    "activeForm",
    "dangerouslyDisableSandbox",
];

/// A tool with the names and arguments by which models know it from elsewhere.
pub(crate) struct ToolWithAliases {
    tool: Arc<dyn Tool>,
    names: Vec<&'static str>,
}

impl ToolWithAliases {
    /// Adds the other names of a built-in tool.
    pub(crate) fn new(tool: Arc<dyn Tool>) -> Self {
        let claude = known_tool(tool.name()).map(|known| known.aliases).unwrap_or_default();
        let others = OTHER_NAMES.iter().find(|(name, _)| *name == tool.name());
        let others = others.map(|(_, names)| *names).unwrap_or_default();
        Self { names: claude.iter().chain(others).copied().collect(), tool }
    }
}

impl Tool for ToolWithAliases {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn other_names(&self) -> &[&str] {
        &self.names
    }

    fn label(&self) -> &str {
        self.tool.label()
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn parameters_schema(&self) -> Value {
        self.tool.parameters_schema()
    }

    fn adapt(&self, arguments: &Value) -> Option<Value> {
        let Value::Object(fields) = arguments else { return None };
        let schema = self.tool.parameters_schema();
        Some(Value::Object(adapted(self.tool.name(), &schema, fields)))
    }

    fn effect(&self) -> Effect {
        self.tool.effect()
    }

    fn precheck(&self, arguments: &Value) -> Result<(), ToolError> {
        self.tool.precheck(arguments)
    }

    fn claim(&self, arguments: &Value, context: &ToolContext) -> Result<Claim, ToolError> {
        self.tool.claim(arguments, context)
    }

    fn execute<'a>(
        &'a self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        self.tool.execute(arguments, context)
    }
}

/// The arguments of the tool `name`, which takes `schema`, by our names.
fn adapted(name: &str, schema: &Value, fields: &Map<String, Value>) -> Map<String, Value> {
    let declares = |key: &str| schema.pointer("/properties").is_some_and(|named| named.get(key).is_some());
    let renames =
        OTHER_ARGUMENTS.iter().find(|(tool, _)| *tool == name).map(|(_, names)| *names).unwrap_or_default();
    let mut ours = Map::new();
    for (key, value) in from_claude_fields(name, fields.clone()) {
        let rename = || renames.iter().find(|(other, own)| *other == key && !fields.contains_key(*own));
        match rename() {
            _ if declares(&key) => ours.insert(key, value),
            Some((_, own)) => ours.insert((*own).to_owned(), value),
            None if EXPLANATIONS.contains(&key.as_str()) => None,
            None => ours.insert(key, value),
        };
    }
    match name {
        "todo" => tasks(&mut ours),
        // No limit is the default.
        "search" if ours.get("limit").and_then(Value::as_u64) == Some(0) => {
            ours.remove("limit");
        }
        _ => {}
    }
    ours
}

/// Claude Code's `todos` as our tasks.
fn tasks(arguments: &mut Map<String, Value>) {
    let Some(Value::Array(todos)) = arguments.remove("todos") else { return };
    let task = |todo: &Value| {
        let text = todo.get("content").or_else(|| todo.get("text")).cloned().unwrap_or_default();
        match todo.get("status") {
            Some(status) => json!({ "text": text, "status": status }),
            None => json!({ "text": text }),
        }
    };
    arguments.insert("tasks".to_owned(), todos.iter().map(task).collect());
}

#[cfg(test)]
#[path = "aliases_tests.rs"]
mod tests;
