//! Servers that come, change, die and come back.

use expect_test::expect;
use rheon_connect::{McpOptions, McpServers, McpStatus, McpToolFilter};
use rheon_types::ToolSource as _;
use serde_json::json;

use crate::fixture::{TestUser, call, called, connected, servers, shown, spec, tool, until};

fn names(servers: &McpServers) -> Vec<String> {
    let mut names: Vec<String> = servers.snapshot().tools.iter().map(|tool| tool.name().to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_started_again() {
    let servers = connected("plain").await;
    let (before, tools) = (servers.snapshot().version, names(&servers));
    expect![[r#"failed: the MCP server "s": the connection to the server ended before it answered; it wrote: out of memory. The call may or may not have taken effect."#]]
        .assert_eq(&called(&servers, "die").await);
    // The next call waits for the new process.
    let word = call(&servers, "mcp__s__echo", json!({ "word": "back" }), &TestUser::default()).await;
    assert_eq!(shown(&word), "back");
    assert_eq!(names(&servers), tools);
    assert!(servers.snapshot().version > before);
    servers.close().await;
}

#[tokio::test]
async fn a_server_that_fails_at_first_is_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("died");
    let (servers, _) = servers(vec![spec("s", "dies_once", file.to_str().unwrap())]);
    until(&servers, |servers| servers.views()[0].status == McpStatus::Connected).await;
    servers.close().await;
}

#[tokio::test]
async fn a_server_that_ends_at_the_newest_protocol_is_asked_in_its_own() {
    let servers = connected("ends_at_probe").await;
    let view = &servers.views()[0];
    let info = view.info.clone().unwrap();
    assert_eq!((info.program.as_str(), info.protocol.as_str()), ("scripted 1", "2025-11-25"));
    servers.close().await;
}

#[tokio::test]
async fn tools_change_while_a_server_runs() {
    let servers = connected("plain").await;
    let before = servers.snapshot();
    assert!(std::sync::Arc::ptr_eq(&before, &servers.snapshot()));
    assert_eq!(called(&servers, "add_tool").await, "added");
    until(&servers, |servers| names(servers).contains(&"mcp__s__added".to_owned())).await;
    assert_eq!(names(&servers).len(), before.tools.len() + 1);
    servers.close().await;
}

#[tokio::test]
async fn everything_a_server_started_ends_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("child");
    let (servers, _) = servers(vec![spec("s", "leaves_child", file.to_str().unwrap())]);
    servers.settled(&["s".into()]).await;
    let child = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    let is_alive =
        || std::fs::read_to_string(format!("/proc/{child}/cmdline")).is_ok_and(|it| it.contains("sleep"));
    assert!(is_alive() || !std::path::Path::new("/proc").exists());
    drop(servers);
    while is_alive() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_server_is_added_removed_reconnected_and_filtered() {
    let servers = connected("plain").await;
    let mut other = spec("other", "plain", "");
    other.filter =
        McpToolFilter { only: Some(vec!["echo".into(), "fail".into()]), without: vec!["fail".into()] };
    servers.add(other);
    servers.settled(&["other".into()]).await;
    assert!(servers.remove("s") && !servers.remove("s"));
    assert_eq!(names(&servers), ["mcp__other__echo"]);
    let first = servers.client("other").await.unwrap();
    assert!(servers.reconnect("other") && !servers.reconnect("s"));
    first.closed().await;
    let word = call(&servers, "mcp__other__echo", json!({ "word": "again" }), &TestUser::default()).await;
    assert_eq!(shown(&word), "again");
    servers.close().await;
}

#[tokio::test]
async fn many_definitions_are_found_by_search() {
    let specs = vec![spec("s", "many", ""), spec("small", "plain", "")];
    let servers = McpServers::start(specs, McpOptions { schema_tokens_max: 1_000, ..McpOptions::default() });
    let search = tool(&servers, "tool_search");
    let answer = search.execute(json!({ "query": "thing 42" }).into(), TestUser::default().context()).await;
    expect![[r#"
        You can call these tools from your next message on:
        - mcp__s__tool_42: Does the thing number 42, in 42 steps
        - mcp__s__tool_142: Does the thing number 142, in 142 steps"#]]
    .assert_eq(&shown(&answer).lines().take(3).collect::<Vec<_>>().join("\n"));
    assert!(names(&servers).contains(&"mcp__s__tool_42".to_owned()));
    assert!(!names(&servers).contains(&"mcp__s__tool_7".to_owned()));
    let answer = search
        .execute(json!({ "query": "select:mcp__s__tool_7,nothing" }).into(), TestUser::default().context());
    expect![[r#"
        You can call these tools from your next message on:
        - mcp__s__tool_7: Does the thing number 7, in 7 steps"#]]
    .assert_eq(&shown(&answer.await));
    assert!(names(&servers).contains(&"mcp__s__tool_7".to_owned()));
    servers.close().await;
}
