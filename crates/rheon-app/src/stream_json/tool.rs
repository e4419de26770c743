//! Tools in Claude Code's terms: names, inputs and results.

use std::path::Path;
use std::sync::Arc;

use rheon_tools::hooks::{ClaudeCall, command_output, to_claude_call};
use rheon_types::{ToolCall, ToolResult};
use serde_json::{Value, json};

/// A call as Claude Code would make it. Paths are absolute, counted from `dir`.
pub(super) fn claude_call(call: &ToolCall, dir: &Path) -> ClaudeCall {
    let arguments = &call.arguments;
    let own = match call.name.as_str() {
        "todo" => Some(json!({ "todos": list(arguments, "tasks").map(todo).collect::<Vec<_>>() })),
        "ask_user" => {
            Some(json!({ "questions": list(arguments, "questions").map(question).collect::<Vec<_>>() }))
        }
        "plan" => {
            let is_exit = arguments.get("action").and_then(Value::as_str) == Some("exit");
            let tool_name = if is_exit { "ExitPlanMode" } else { "EnterPlanMode" };
            let plan = arguments.get("plan").filter(|plan| plan.is_string());
            let tool_input = plan.map_or_else(|| json!({}), |plan| json!({ "plan": plan }));
            return ClaudeCall { tool_name: tool_name.to_owned(), tool_input };
        }
        _ => None,
    };
    let foreign = to_claude_call(call, dir);
    ClaudeCall { tool_input: own.unwrap_or(foreign.tool_input), tool_name: foreign.tool_name }
}

/// Claude Code's name of a tool.
pub(super) fn claude_tool_name(name: &str) -> String {
    // One edit makes an `Edit`; no other tool looks at it.
    let arguments = Arc::new(json!({ "edits": [{}], "action": "exit" }));
    let call = ToolCall { id: "".into(), name: name.into(), arguments, malformed: None, key_order: None };
    claude_call(&call, Path::new("/")).tool_name
}

/// The structured result for programs, besides the text for the model.
pub(super) fn claude_result(call: &ToolCall, dir: &Path, result: &ToolResult, duration_ms: u64) -> Value {
    let text = result.as_text();
    let details = &result.details;
    let input = claude_call(call, dir).tool_input;
    let given = |key: &str| input.get(key).cloned().unwrap_or_default();
    match call.name.as_str() {
        "bash" | "bash_output" => json!({
            "stdout": command_output(result), "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false, "exitCode": details.get("exit_code"),
        }),
        "read" if details.get("kind").and_then(Value::as_str) == Some("text") => json!({
            "type": "text",
            "file": {
                "filePath": given("file_path"),
                "content": text,
                "numLines": details.get("lines"),
                "startLine": details.get("firstLine"),
                "totalLines": details.get("totalLines"),
            },
        }),
        "edit" => json!({
            "filePath": given("file_path"), "oldString": given("old_string"), "newString": given("new_string"),
            "replaceAll": given("replace_all").as_bool().unwrap_or(false), "userModified": false,
            "originalFile": null, "structuredPatch": [], "diff": details.get("diff"),
        }),
        "write" => {
            let is_new = details.get("created").and_then(Value::as_bool).unwrap_or(false);
            json!({
                "type": if is_new { "create" } else { "update" },
                "filePath": given("file_path"), "content": given("content"),
                "originalFile": null, "structuredPatch": [], "diff": details.get("diff"),
            })
        }
        "glob" => {
            let files: Vec<&str> = text.lines().filter(|line| !line.starts_with('(')).collect();
            json!({
                "filenames": files, "durationMs": duration_ms, "numFiles": details.get("files"),
                "truncated": details.get("files") != details.get("shown"),
            })
        }
        "search" => json!({
            "mode": input.get("output_mode").cloned().unwrap_or_else(|| json!("content")),
            "content": text, "filenames": [], "numFiles": details.get("files"),
            "numMatches": details.get("matches"),
        }),
        "todo" => json!({ "oldTodos": [], "newTodos": given("todos") }),
        "web_fetch" => json!({
            "url": details.get("url"), "code": details.get("status"), "result": text,
            "bytes": details.get("characters"), "durationMs": duration_ms,
        }),
        _ if details.is_null() => Value::String(text),
        _ => json!({ "content": text, "details": details }),
    }
}

fn list<'a>(arguments: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    arguments.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn todo(task: &Value) -> Value {
    let status = match task.get("status").and_then(Value::as_str) {
        Some("inProgress") => "in_progress",
        Some("completed") => "completed",
        Some(_) | None => "pending",
    };
    json!({ "content": task.get("text"), "status": status, "activeForm": task.get("text") })
}

fn question(question: &Value) -> Value {
    let option = |choice: &Value| {
        let description = choice.get("description").cloned().unwrap_or_else(|| json!(""));
        json!({ "label": choice.get("label"), "description": description })
    };
    let is_many = question.get("selection").and_then(Value::as_str) == Some("many");
    json!({
        "question": question.get("text"),
        "header": "",
        "options": list(question, "choices").map(option).collect::<Vec<_>>(),
        "multiSelect": is_many,
    })
}
