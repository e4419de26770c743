//! Converting calls to the format of Claude Code, and back.

use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use rheon_types::{Content, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::hooks::translate::{from_claude_input, from_claude_output, to_claude_call, to_claude_response};

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: "1".into(),
        name: name.into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    }
}

fn calls() -> Vec<ToolCall> {
    let edit = |old: &str| json!({ "old_string": old, "new_string": "b" });
    vec![
        call("bash", json!({ "command": "ls", "timeout_ms": 5, "background": true, "description": "looks" })),
        call("read", json!({ "path": "./src/a.rs", "offset": 3, "limit": 4 })),
        call("read", json!({ "path": "/etc/hosts" })),
        call("write", json!({ "path": "a", "content": "x" })),
        call("edit", json!({ "path": "a", "edits": [edit("a")] })),
        call("edit", json!({ "path": "a", "edits": [edit("a"), edit("c")] })),
        call("glob", json!({ "pattern": "**/*.rs", "path": "." })),
        call("list", json!({ "path": "src" })),
        call(
            "search",
            json!({ "pattern": "x", "glob": ["*.rs"], "output": "files", "ignore_case": true, "limit": 9 }),
        ),
        call("search", json!({ "pattern": "x", "glob": ["*.rs", "!a"], "context": 2 })),
        call("web_fetch", json!({ "url": "https://example.com" })),
        call("bash_kill", json!({ "id": "1" })),
        call("mcp__a__b", json!({ "path": "x" })),
        call("own_tool", json!({ "path": "x" })),
    ]
}

#[test]
fn built_in_calls_convert_to_claude_code_and_back() {
    let dir = Path::new("/project");
    let mut rows = String::new();
    for call in calls() {
        let claude_call = to_claude_call(&call, dir);
        rows += &format!("{} {}\n", claude_call.tool_name, claude_call.tool_input);
        assert_eq!(from_claude_input(&call, dir, claude_call.tool_input), *call.arguments);
    }
    expect![[r#"
        Bash {"command":"ls","description":"looks","run_in_background":true,"timeout":5}
        Read {"file_path":"/project/src/a.rs","limit":4,"offset":3}
        Read {"file_path":"/etc/hosts"}
        Write {"content":"x","file_path":"/project/a"}
        Edit {"file_path":"/project/a","new_string":"b","old_string":"a"}
        MultiEdit {"edits":[{"new_string":"b","old_string":"a"},{"new_string":"b","old_string":"c"}],"file_path":"/project/a"}
        Glob {"path":"/project","pattern":"**/*.rs"}
        LS {"path":"/project/src"}
        Grep {"-i":true,"glob":"*.rs","head_limit":9,"output_mode":"files_with_matches","pattern":"x"}
        Grep {"-C":2,"glob":["*.rs","!a"],"pattern":"x"}
        WebFetch {"url":"https://example.com"}
        KillShell {"shell_id":"1"}
        mcp__a__b {"path":"x"}
        own_tool {"path":"x"}
    "#]].assert_eq(&rows);
}

#[test]
fn changes_by_a_hook_are_applied() {
    let dir = Path::new("/project");
    let read = call("read", json!({ "path": "a" }));
    assert_eq!(
        from_claude_input(&read, dir, json!({ "file_path": "/project/b" })),
        json!({ "path": "/project/b" })
    );
    let edit = call("edit", json!({ "path": "a", "edits": [] }));
    let updated = json!({ "file_path": "/project/a", "edits": [{ "old_string": "x" }] });
    assert_eq!(
        from_claude_input(&edit, dir, updated),
        json!({ "path": "a", "edits": [{ "old_string": "x" }] })
    );
}

#[test]
fn results_are_converted_to_the_format_of_claude_code() {
    let result = ToolResult::text("fine").with_details(json!({ "exitCode": 0 }));
    let show = |name: &str| {
        to_claude_response(&call(name, json!({ "path": "a" })), Path::new("/project"), &result).to_string()
    };
    expect![[r#"
        {"details":{"exitCode":0},"exitCode":null,"interrupted":false,"isImage":false,"stderr":"","stdout":"fine"}
        {"content":"fine","details":{"exitCode":0},"filePath":"/project/a","success":true}
        {"content":[{"text":"fine","type":"text"}],"details":{"exitCode":0}}
        {"content":[{"text":"fine","type":"text"}],"details":{"exitCode":0}}"#]]
    .assert_eq(&["bash", "write", "read", "mcp__a__b"].map(show).join("\n"));
}

#[test]
fn an_updated_output_may_have_any_format() {
    let mut rows = String::new();
    for updated in [
        json!("text"),
        json!({ "stdout": "out", "stderr": "" }),
        json!({ "content": "all" }),
        json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
        json!({ "other": 1 }),
        json!([1, 2]),
    ] {
        let content = from_claude_output(&updated);
        let [Content::Text { text }] = content.as_slice() else { panic!("{content:?}") };
        rows += &format!("{updated}: {text:?}\n");
    }
    expect![[r#"
        "text": "text"
        {"stderr":"","stdout":"out"}: "out"
        {"content":"all"}: "all"
        {"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}]}: "a\nb"
        {"other":1}: "{\"other\":1}"
        [1,2]: "[1,2]"
    "#]]
    .assert_eq(&rows);
}
