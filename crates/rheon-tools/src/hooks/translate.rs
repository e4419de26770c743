//! Calls and results in the shape that hooks know from Claude Code, and back.

use std::path::Path;

use rheon_policy::{ToolKind, known_tool};
use rheon_types::{Content, ToolCall, ToolResult};
use serde_json::{Map, Value, json};

use crate::hooks::answer::capped;

/// Arguments of ours and what hooks call them.
const RENAMED: [(&str, &[(&str, &str)]); 7] = [
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

/// What `search` shows, in our words and in those of hooks.
const OUTPUT_MODES: [(&str, &str); 3] =
    [("lines", "content"), ("files", "files_with_matches"), ("count", "count")];

/// A call as hooks, and programs that speak Claude Code's formats, see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// The tool's name there.
    pub tool_name: String,
    /// Its arguments there.
    pub tool_input: Value,
}

/// The call as hooks see it. Paths of files are absolute, counted from `folder`.
pub fn to_hooks(call: &ToolCall, folder: &Path) -> Foreign {
    let name = call.name.as_str();
    let Some(tool) = known_tool(name).filter(|tool| tool.name == name) else {
        return Foreign { tool_name: name.to_owned(), tool_input: Value::clone(&call.arguments) };
    };
    let mut tool_name = tool.aliases.first().copied().unwrap_or(name);
    let mut input: Map<String, Value> = match &*call.arguments {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (theirs(name, key), value.clone())).collect()
        }
        other => return Foreign { tool_name: tool_name.to_owned(), tool_input: other.clone() },
    };
    for key in ["file_path", "path"] {
        if is_path(tool.kind)
            && let Some(Value::String(path)) = input.get_mut(key)
        {
            *path = absolute(folder, path);
        }
    }
    match name {
        "edit" if one_edit(&mut input).is_none() => tool_name = "MultiEdit",
        "search" => search_to_hooks(&mut input),
        _ => {}
    }
    Foreign { tool_name: tool_name.to_owned(), tool_input: Value::Object(input) }
}

/// What a hook wrote for the input of `call`, as our tool takes it. What the hook left as it was given stays as the model wrote it.
pub fn from_hooks(call: &ToolCall, folder: &Path, updated: Value) -> Value {
    let name = call.name.as_str();
    let Some(tool) = known_tool(name).filter(|tool| tool.name == name) else { return updated };
    let Value::Object(fields) = updated else { return updated };
    let mut arguments: Map<String, Value> =
        fields.into_iter().map(|(key, value)| (ours(name, &key), value)).collect();
    if is_path(tool.kind)
        && let Some(Value::String(path)) = arguments.get_mut("path")
        && let Some(written) = call.arguments.get("path").and_then(Value::as_str)
        && *path == absolute(folder, written)
    {
        written.clone_into(path);
    }
    match name {
        "edit" => edits_from_hooks(&mut arguments),
        "search" => search_from_hooks(&mut arguments),
        _ => {}
    }
    Value::Object(arguments)
}

/// The result as hooks see it.
pub(crate) fn result_to_hooks(call: &ToolCall, folder: &Path, result: &ToolResult) -> Value {
    let text = result.as_text();
    let path = || call.arguments.get("path").and_then(Value::as_str).map(|path| absolute(folder, path));
    let mut response = match known_tool(call.name.as_str()).map(|tool| tool.kind) {
        Some(ToolKind::Shell) => {
            json!({ "stdout": text, "stderr": "", "interrupted": false, "isImage": false })
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

/// What the model reads instead of a result.
pub(crate) fn output_from_hooks(updated: &Value) -> Vec<Content> {
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
    vec![Content::text(capped(&text))]
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

fn absolute(folder: &Path, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path == "." {
        return folder.display().to_string();
    }
    folder.join(path).display().to_string()
}

fn renamed(tool: &str) -> &'static [(&'static str, &'static str)] {
    RENAMED.iter().find(|(name, _)| *name == tool).map(|(_, fields)| *fields).unwrap_or_default()
}

fn theirs(tool: &str, key: &str) -> String {
    renamed(tool).iter().find(|(ours, _)| *ours == key).map_or(key, |(_, theirs)| theirs).to_owned()
}

fn ours(tool: &str, key: &str) -> String {
    renamed(tool).iter().find(|(_, theirs)| *theirs == key).map_or(key, |(ours, _)| ours).to_owned()
}

/// Puts the only edit beside the path, as `Edit` has it; nothing where there are several.
fn one_edit(input: &mut Map<String, Value>) -> Option<()> {
    let edits = input.get("edits")?.as_array()?;
    let [Value::Object(edit)] = edits.as_slice() else { return None };
    let edit = edit.clone();
    input.remove("edits");
    input.extend(edit);
    Some(())
}

fn edits_from_hooks(arguments: &mut Map<String, Value>) {
    if arguments.contains_key("edits") {
        return;
    }
    let fields = ["old_string", "new_string", "replace_all"];
    let edit: Map<String, Value> =
        fields.iter().filter_map(|key| Some(((*key).to_owned(), arguments.remove(*key)?))).collect();
    arguments.insert("edits".to_owned(), json!([edit]));
}

fn search_to_hooks(input: &mut Map<String, Value>) {
    if let Some(Value::String(mode)) = input.get_mut("output_mode")
        && let Some((_, theirs)) = OUTPUT_MODES.iter().find(|(ours, _)| *ours == mode.as_str())
    {
        (*theirs).clone_into(mode);
    }
    if let Some(glob) = input.get_mut("glob")
        && let Some([only]) = glob.as_array().map(Vec::as_slice)
    {
        *glob = only.clone();
    }
}

fn search_from_hooks(arguments: &mut Map<String, Value>) {
    if let Some(Value::String(mode)) = arguments.get_mut("output")
        && let Some((ours, _)) = OUTPUT_MODES.iter().find(|(_, theirs)| *theirs == mode.as_str())
    {
        (*ours).clone_into(mode);
    }
    if let Some(glob @ Value::String(_)) = arguments.get_mut("glob") {
        *glob = json!([glob.clone()]);
    }
}
