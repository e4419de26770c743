//! Converts calls and results to the format of Claude Code, and back.

use std::path::Path;

use rheon_policy::{ToolKind, known_tool};
use rheon_types::{Content, ToolCall, ToolResult};
use serde_json::{Map, Value, json};

use crate::hooks::interpret::truncate;

/// Our argument names and Claude Code's.
const RENAMED_ARGUMENTS: [(&str, &[(&str, &str)]); 7] = [
    ("bash", &[("timeout_ms", "timeout"), ("background", "run_in_background")]),
    ("bash_output", &[("id", "bash_id")]),
    ("bash_kill", &[("id", "shell_id")]),
    ("read", &[("path", "file_path")]),
    ("write", &[("path", "file_path")]),
    ("edit", &[("path", "file_path")]),
    (
        "search",
        &[("output", "output_mode"), ("ignore_case", "-i"), ("context", "-C"), ("limit", "head_limit")],
    ),
];

/// Our output modes of `search` and Claude Code's.
const OUTPUT_MODES: [(&str, &str); 3] =
    [("lines", "content"), ("files", "files_with_matches"), ("count", "count")];

/// A call in the format of Claude Code, as hooks and other programs read it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaudeCall {
    pub tool_name: String,
    pub tool_input: Value,
}

/// Converts a call. File paths become absolute, relative to `dir`.
pub fn to_claude_call(call: &ToolCall, dir: &Path) -> ClaudeCall {
    let name = call.name.as_str();
    let Some(tool) = known_tool(name).filter(|tool| tool.name == name) else {
        return ClaudeCall { tool_name: name.to_owned(), tool_input: Value::clone(&call.arguments) };
    };
    let mut tool_name = tool.aliases.first().copied().unwrap_or(name);
    let mut input: Map<String, Value> = match &*call.arguments {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (claude_name(name, key), value.clone())).collect()
        }
        other => return ClaudeCall { tool_name: tool_name.to_owned(), tool_input: other.clone() },
    };
    for key in ["file_path", "path"] {
        if is_path(tool.kind)
            && let Some(Value::String(path)) = input.get_mut(key)
        {
            *path = absolute(dir, path);
        }
    }
    match name {
        "edit" if inline_single_edit(&mut input).is_none() => tool_name = "MultiEdit",
        "search" => search_to_claude(&mut input),
        _ => {}
    }
    ClaudeCall { tool_name: tool_name.to_owned(), tool_input: Value::Object(input) }
}

/// Converts a hook's replacement for the input of `call` to our arguments. Parts the hook did not change stay as the
/// model wrote them.
pub fn from_claude_input(call: &ToolCall, dir: &Path, updated: Value) -> Value {
    let name = call.name.as_str();
    let Some(tool) = known_tool(name).filter(|tool| tool.name == name) else { return updated };
    let Value::Object(fields) = updated else { return updated };
    let mut arguments = from_claude_fields(name, fields);
    if is_path(tool.kind)
        && let Some(Value::String(path)) = arguments.get_mut("path")
        && let Some(written) = call.arguments.get("path").and_then(Value::as_str)
        && *path == absolute(dir, written)
    {
        written.clone_into(path);
    }
    Value::Object(arguments)
}

/// Converts the input of the tool that we call `name`.
pub(crate) fn from_claude_fields(name: &str, fields: Map<String, Value>) -> Map<String, Value> {
    let mut arguments: Map<String, Value> =
        fields.into_iter().map(|(key, value)| (rheon_name(name, &key), value)).collect();
    match name {
        "edit" => edits_from_claude(&mut arguments),
        "search" => search_from_claude(&mut arguments),
        _ => {}
    }
    arguments
}

/// Converts a result.
pub(crate) fn to_claude_response(call: &ToolCall, dir: &Path, result: &ToolResult) -> Value {
    let text = result.as_text();
    let path = || call.arguments.get("path").and_then(Value::as_str).map(|path| absolute(dir, path));
    let mut response = match known_tool(call.name.as_str()).map(|tool| tool.kind) {
        Some(ToolKind::Shell) => {
            let is_interrupted = result.details.get("error").and_then(Value::as_str) == Some("cancelled");
            json!({
                "stdout": command_output(result), "stderr": "", "interrupted": is_interrupted, "isImage": false,
                "exitCode": result.details.get("exit_code"),
            })
        }
        Some(ToolKind::Edit) => json!({ "filePath": path(), "success": true, "content": text }),
        Some(
            ToolKind::Read
            | ToolKind::Fetch
            | ToolKind::Named
            | ToolKind::Internal
            | ToolKind::Mcp
            | ToolKind::Other,
        )
        | None => {
            json!({ "content": result.content.iter().map(block).collect::<Vec<_>>() })
        }
    };
    if let (Value::Object(response), false) = (&mut response, result.details.is_null()) {
        response.insert("details".to_owned(), result.details.clone());
    }
    response
}

/// What a command printed, without our notes and its exit code. Both streams in the order of writing, as in Claude Code.
pub fn command_output(result: &ToolResult) -> String {
    let text = result.as_text();
    let shown_bytes = result.details.get("shown_bytes").and_then(Value::as_u64);
    let shown = shown_bytes.and_then(|bytes| text.get(..usize::try_from(bytes).ok()?));
    shown.map_or_else(|| text.clone(), |shown| shown.trim_end_matches('\n').to_owned())
}

/// The output the model reads instead of a result.
pub(crate) fn from_claude_output(updated: &Value) -> Vec<Content> {
    let text = match updated {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match (fields.get("stdout"), fields.get("content")) {
            (Some(Value::String(text)), _) | (None, Some(Value::String(text))) => text.clone(),
            (None, Some(Value::Array(blocks))) => {
                let texts: Vec<&str> =
                    blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
                texts.join("\n")
            }
            (Some(_), _) | (None, Some(_) | None) => updated.to_string(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => updated.to_string(),
    };
    vec![Content::text(truncate(&text))]
}

fn block(content: &Content) -> Value {
    match content {
        Content::Text { text } => json!({ "type": "text", "text": text }),
        Content::Image { mime_type, .. } => json!({ "type": "image", "mimeType": mime_type }),
        Content::Thinking { .. } | Content::ToolCall(_) => json!({ "type": "other" }),
    }
}

fn is_path(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Read | ToolKind::Edit)
}

fn absolute(dir: &Path, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path == "." {
        return dir.display().to_string();
    }
    dir.join(path).display().to_string()
}

fn renamed(tool: &str) -> &'static [(&'static str, &'static str)] {
    RENAMED_ARGUMENTS.iter().find(|(name, _)| *name == tool).map(|(_, fields)| *fields).unwrap_or_default()
}

fn claude_name(tool: &str, key: &str) -> String {
    renamed(tool)
        .iter()
        .find(|(rheon_name, _)| *rheon_name == key)
        .map_or(key, |(_, claude_name)| claude_name)
        .to_owned()
}

fn rheon_name(tool: &str, key: &str) -> String {
    renamed(tool)
        .iter()
        .find(|(_, claude_name)| *claude_name == key)
        .map_or(key, |(rheon_name, _)| rheon_name)
        .to_owned()
}

/// Moves a single edit next to the path, as Claude Code's `Edit` has it. `None` if there are several.
fn inline_single_edit(input: &mut Map<String, Value>) -> Option<()> {
    let edits = input.get("edits")?.as_array()?;
    let [Value::Object(edit)] = edits.as_slice() else { return None };
    let edit = edit.clone();
    input.remove("edits");
    input.extend(edit);
    Some(())
}

fn edits_from_claude(arguments: &mut Map<String, Value>) {
    if arguments.contains_key("edits") {
        return;
    }
    let fields = ["old_string", "new_string", "replace_all"];
    let edit: Map<String, Value> =
        fields.iter().filter_map(|key| Some(((*key).to_owned(), arguments.remove(*key)?))).collect();
    arguments.insert("edits".to_owned(), json!([edit]));
}

fn search_to_claude(input: &mut Map<String, Value>) {
    if let Some(Value::String(mode)) = input.get_mut("output_mode")
        && let Some((_, claude_name)) =
            OUTPUT_MODES.iter().find(|(rheon_name, _)| *rheon_name == mode.as_str())
    {
        (*claude_name).clone_into(mode);
    }
    if let Some(glob) = input.get_mut("glob")
        && let Some([only]) = glob.as_array().map(Vec::as_slice)
    {
        *glob = only.clone();
    }
}

fn search_from_claude(arguments: &mut Map<String, Value>) {
    if let Some(Value::String(mode)) = arguments.get_mut("output")
        && let Some((rheon_name, _)) =
            OUTPUT_MODES.iter().find(|(_, claude_name)| *claude_name == mode.as_str())
    {
        (*rheon_name).clone_into(mode);
    }
    if let Some(glob @ Value::String(_)) = arguments.get_mut("glob") {
        *glob = json!([glob.clone()]);
    }
}
