//! What an approval prompt shows: exactly what the call would do.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use rheon_types::ToolCall;
use rheon_types::event::Subject;
use serde_json::Value;
use similar::TextDiff;

use crate::policy::names::{PATH_KEYS, ToolKind, kind_of};
use crate::workspace::Workspace;

/// Largest file to diff.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Argument names of an edit: the old text and the new text.
const REPLACED_KEYS: [(&str, &str); 3] =
    [("old_string", "new_string"), ("old", "new"), ("old_text", "new_text")];

/// The whole command, the diff, or the arguments.
pub(crate) fn of(call: &ToolCall, workspace: &Workspace, shell_dir: &Path) -> Subject {
    let arguments = || Subject::Arguments { arguments: Arc::clone(&call.arguments) };
    match kind_of(call.name.as_str()) {
        ToolKind::Shell => match call.arguments.get("command").and_then(Value::as_str) {
            Some(command) => Subject::Command {
                command: command.to_owned(),
                cwd: workspace.root().join(shell_dir).display().to_string(),
            },
            None => arguments(),
        },
        ToolKind::Edit => difference(call, workspace).unwrap_or_else(arguments),
        ToolKind::Read
        | ToolKind::Fetch
        | ToolKind::Named
        | ToolKind::Internal
        | ToolKind::Mcp
        | ToolKind::Other => arguments(),
    }
}

fn difference(call: &ToolCall, workspace: &Workspace) -> Option<Subject> {
    let text = |key: &str| call.arguments.get(key).and_then(Value::as_str);
    let path = PATH_KEYS.iter().find_map(|key| text(key))?;
    let real = workspace.resolve(path).ok()?.path;
    let before = read(&real)?;
    let after = match call.name.as_str() {
        "write" => text("content")?.to_owned(),
        "edit" => edited(&before, &call.arguments)?,
        _ => return None,
    };
    let shown = workspace.shown(&real).to_string();
    let diff = TextDiff::from_lines(&before, &after)
        .unified_diff()
        .header(&format!("a/{shown}"), &format!("b/{shown}"))
        .to_string();
    Some(Subject::Diff { path: shown, diff })
}

/// Reads a file that is not too large; never a pipe or device. A missing file is empty.
fn read(path: &Path) -> Option<String> {
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(String::new()),
        Ok(found) if found.is_file() && found.len() <= FILE_BYTES_MAX => {
            let mut text = String::new();
            let file = std::fs::File::open(path).ok()?;
            file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).ok()?;
            Some(text)
        }
        Ok(_) | Err(_) => None,
    }
}

/// Applies the edits of a call. `None` if one does not apply, so that no wrong diff is shown.
fn edited(before: &str, arguments: &Value) -> Option<String> {
    let one = [arguments.clone()];
    let edits = arguments.get("edits").and_then(Value::as_array).map_or(one.as_slice(), Vec::as_slice);
    let mut text = before.to_owned();
    for edit in edits {
        let field = |key: &str| edit.get(key).and_then(Value::as_str);
        let (old, new) = REPLACED_KEYS.iter().find_map(|(old, new)| Some((field(old)?, field(new)?)))?;
        let all = edit.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
        let count = if old.is_empty() { 0 } else { text.matches(old).take(2).count() };
        text = match (count, all) {
            (1, _) | (2, true) => text.replace(old, new),
            _ => return None,
        };
    }
    Some(text)
}
