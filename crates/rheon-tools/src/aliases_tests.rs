//! Calls as models make them that know other agents' tools.

use std::sync::Arc;

use rheon_testkit::{FnTool, Scenario, Turn, scripted};
use rheon_types::{AgentEvent, Tool, ToolEvent, ToolResult};
use serde_json::{Value, json};

use super::ToolWithAliases;
use crate::builtin::fixture::Fixture;
use crate::builtin::{TodoList, TodoTool};
use crate::file_tools;

/// A tool with the name and schema of `tool` that does nothing.
fn idle(tool: &dyn Tool) -> Arc<dyn Tool> {
    let inert = FnTool::new(tool.name(), |_, _| async { Ok(ToolResult::text("done")) });
    Arc::new(ToolWithAliases::new(Arc::new(inert.schema(tool.parameters_schema()))))
}

/// The calls as they run, by name and arguments, and the errors of those that do not.
async fn run(calls: &[(&str, Value)]) -> Vec<(String, Value)> {
    let fixture = Fixture::new();
    let mut tools: Vec<Arc<dyn Tool>> =
        file_tools(&fixture.file_context).iter().map(|tool| idle(&**tool)).collect();
    tools.push(idle(&TodoTool::new(TodoList::default())));
    let bash = FnTool::new("bash", |_, _| async { Ok(ToolResult::text("done")) }).schema(json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "timeout_ms": { "type": ["integer", "null"] },
            "background": { "type": ["boolean", "null"] },
        },
        "required": ["command"],
        "additionalProperties": false,
    }));
    tools.push(Arc::new(ToolWithAliases::new(Arc::new(bash))));
    let scenario = calls.iter().fold(Scenario::new(), |scenario, (name, arguments)| {
        scenario.turn(Turn::call(*name, arguments.clone()))
    });
    let ran = scripted(scenario.turn("done")).with(|builder| builder.tools(tools)).run("go").await;
    let events = ran.trace.events().into_iter().filter_map(|event| match event.kind {
        AgentEvent::Tool(ToolEvent::Start { name, args, .. }) => {
            Some((name.to_string(), Value::clone(&args)))
        }
        AgentEvent::Tool(ToolEvent::Blocked { name, reason, .. }) => Some((name.to_string(), json!(reason))),
        _ => None,
    });
    events.collect()
}

#[tokio::test]
async fn calls_of_claude_codes_tools_run() {
    let edit = json!({ "old_string": "a", "new_string": "b" });
    let cases = [
        ("Read", json!({ "file_path": "a.rs", "limit": "5" }), "read", json!({ "path": "a.rs", "limit": 5 })),
        ("read", json!({ "path": "a.rs", "offset": 1.0 }), "read", json!({ "path": "a.rs", "offset": 1 })),
        (
            "Write",
            json!({ "file_path": "a", "content": "x" }),
            "write",
            json!({ "path": "a", "content": "x" }),
        ),
        (
            "Edit",
            json!({ "file_path": "a", "old_string": "a", "new_string": "b", "replace_all": "false" }),
            "edit",
            json!({ "path": "a", "edits": [{ "old_string": "a", "new_string": "b", "replace_all": false }] }),
        ),
        (
            "MultiEdit",
            json!({ "file_path": "a", "edits": [edit] }),
            "edit",
            json!({ "path": "a", "edits": [edit] }),
        ),
        ("edit", json!({ "path": "a", "edits": edit }), "edit", json!({ "path": "a", "edits": [edit] })),
        (
            "edit",
            json!({ "path": "a", "edits": edit.to_string() }),
            "edit",
            json!({ "path": "a", "edits": [edit] }),
        ),
        (
            "Bash",
            json!({ "command": "make", "description": "Build", "timeout": "9", "run_in_background": "true" }),
            "bash",
            json!({ "command": "make", "timeout_ms": 9, "background": true }),
        ),
        ("Glob", json!({ "pattern": "*.rs" }), "glob", json!({ "pattern": "*.rs" })),
        ("LS", json!({ "path": "src" }), "list", json!({ "path": "src" })),
        (
            "Grep",
            json!({ "pattern": "x", "output_mode": "content", "-n": true, "-i": true, "glob": "*.rs", "head_limit": 0 }),
            "search",
            json!({ "pattern": "x", "output": "lines", "ignore_case": true, "glob": ["*.rs"] }),
        ),
        ("grep", json!({ "pattern": "x", "-A": 2 }), "search", json!({ "pattern": "x", "context": 2 })),
        (
            "TodoWrite",
            json!({ "todos": [{ "content": "Test", "status": "in_progress", "activeForm": "Testing" }] }),
            "todo",
            json!({ "tasks": [{ "text": "Test", "status": "inProgress" }] }),
        ),
    ];
    let calls: Vec<(&str, Value)> =
        cases.iter().map(|(name, written, ..)| (*name, written.clone())).collect();
    let meant: Vec<(String, Value)> =
        cases.iter().map(|(_, _, name, meant)| ((*name).to_owned(), meant.clone())).collect();
    assert_eq!(run(&calls).await, meant);
}

#[tokio::test]
async fn calls_of_other_agents_run() {
    let calls = [
        ("read_file", json!({ "target_file": "a.rs", "explanation": "to see it" })),
        ("run_shell_command", json!({ "cmd": "make" })),
        ("functions.bash", json!({ "command": "make" })),
        ("list_directory", json!({ "directory": "src" })),
        ("search_files", json!({ "regex": "x" })),
    ];
    let ran: Vec<String> =
        run(&calls).await.into_iter().map(|(name, arguments)| format!("{name} {arguments}")).collect();
    assert_eq!(
        ran,
        [
            r#"read {"path":"a.rs"}"#,
            r#"bash {"command":"make"}"#,
            r#"bash {"command":"make"}"#,
            r#"list {"path":"src"}"#,
            r#"search {"pattern":"x"}"#,
        ]
    );
}

#[tokio::test]
async fn what_is_not_clear_is_refused() {
    let calls = [
        ("Read", json!({ "file_path": "a", "dry_run": true })),
        ("Edit", json!({ "file_path": "a" })),
        ("Frobnicate", json!({})),
    ];
    let ran = run(&calls).await;
    assert!(ran.iter().all(|(_, reason)| reason.is_string()), "{ran:?}");
    assert_eq!(ran.len(), 3);
}
