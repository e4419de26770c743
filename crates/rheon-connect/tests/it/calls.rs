//! Calls of well-behaved servers.

use expect_test::expect;
use rheon_types::ToolSource as _;
use rheon_types::event::{PermissionDecision, PermissionResponse};
use serde_json::json;

use crate::fixture::{TestUser, call, called, connected, servers, shown, spec};

#[tokio::test]
async fn results_of_every_kind_reach_the_model() {
    let servers = connected("plain").await;
    let word =
        call(&servers, "mcp__s__echo", json!({ "word": "héllo" }), &TestUser::default()).await.unwrap();
    assert_eq!(word.as_text(), "héllo");
    assert_eq!(word.details, json!({ "mcpServer": "s" }));
    let sum = call(&servers, "mcp__s__structured", json!({}), &TestUser::default()).await.unwrap();
    assert_eq!(sum.as_text(), r#"{"sum":3}"#);
    assert_eq!(sum.details, json!({ "mcpServer": "s", "structuredContent": { "sum": 3 } }));
    expect![[r#"
        <image/png iVBORw0KGgo=>
        [audio of type audio/wav, which is not supported]
        [resource one: note://one]
        [resource note://one]
        the first note"#]]
    .assert_eq(&called(&servers, "image").await);
    expect!["failed: it broke"].assert_eq(&called(&servers, "fail").await);
    assert_eq!(servers.snapshot().instructions.as_deref(), Some("## s\n\nUse [31mecho."));
    servers.close().await;
}

#[tokio::test]
async fn a_server_gets_its_declared_environment_and_nothing_else() {
    let servers = connected("plain").await;
    expect!["DECLARED PATH RHEON_COMMAND "].assert_eq(&called(&servers, "env").await);
    servers.close().await;
}

#[tokio::test]
async fn progress_is_shown_while_a_call_runs() {
    let servers = connected("plain").await;
    let user = TestUser::default();
    let result = call(&servers, "mcp__s__progress", json!({}), &user).await;
    assert_eq!(shown(&result), "finished");
    assert_eq!(user.heard(), ["step 1 (1/3)", "step 2 (2/3)", "step 3 (3/3)"]);
    servers.close().await;
}

#[tokio::test]
async fn calls_run_at_the_same_time_and_a_canceled_one_is_told_to_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("told");
    let (servers, _) = servers(vec![spec("s", "plain", file.to_str().unwrap())]);
    servers.settled(&["s".into()]).await;
    let user = TestUser::default();
    let slow = call(&servers, "mcp__s__slow", json!({}), &user);
    let other = TestUser::default();
    tokio::pin!(slow);
    tokio::select! {
        ended = &mut slow => panic!("{ended:?}"),
        word = call(&servers, "mcp__s__echo", json!({ "word": "now" }), &other) => {
            assert_eq!(shown(&word), "now");
        }
    }
    user.cancel.cancel();
    assert_eq!(shown(&slow.await), "cancelled: canceled");
    while !std::fs::read_to_string(&file).is_ok_and(|text| text == "canceled\n") {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    servers.close().await;
}

#[tokio::test]
async fn resources_and_prompts_are_listed_and_read() {
    let servers = connected("plain").await;
    let client = servers.client("s").await.unwrap();
    let resources = client.resources().await.unwrap();
    assert_eq!((resources[0].uri.as_str(), resources[0].description.as_str()), ("note://one", "A note"));
    let content = client.read_resource("note://one").await.unwrap();
    expect![[r#"
        [resource note://one]
        the first note"#]]
    .assert_eq(&shown(&Ok(rheon_types::ToolResult { content, ..Default::default() })));
    let prompts = servers.views()[0].prompts.clone();
    assert_eq!((prompts[0].command.as_str(), prompts[0].hint().as_str()), ("mcp__s__review", "path"));
    assert_eq!(prompts[0].arguments_of("").unwrap_err(), "/mcp__s__review needs path");
    let arguments = prompts[0].arguments_of("src/a b.rs").unwrap();
    let content = client.get_prompt("review", arguments).await.unwrap();
    assert_eq!(content, [rheon_types::Content::text("Review src/a b.rs")]);
    servers.close().await;
}

#[tokio::test]
async fn a_server_asks_the_user_through_the_call() {
    let servers = connected("plain").await;
    let answered = |answers: &[&[&str]]| PermissionResponse {
        answers: answers.iter().map(|one| one.iter().map(|text| (*text).to_owned()).collect()).collect(),
        ..PermissionDecision::Allow.into()
    };
    let user = TestUser::default();
    user.answers.lock().unwrap().extend([
        answered(&[&["Ann"], &["many"], &[], &[]]),
        answered(&[&["Ann"], &["7"], &["blue"], &["Yes"]]),
    ]);
    let result = call(&servers, "mcp__s__ask", json!({}), &user).await;
    expect![[r#"{"action":"accept","content":{"age":7,"color":"blue","name":"Ann","ok":true}}"#]]
        .assert_eq(&shown(&result));
    expect![[r#"
        the MCP server "s" asks for input
        Who are you? (from the MCP server s)
        Name []
        age (optional) []
        color (optional) ["red", "blue"]
        ok (optional) ["Yes", "No"]
        the MCP server "s" asks for input
        Who are you? (from the MCP server s)
        "many" is not valid for "age".
        Name []
        age (optional) []
        color (optional) ["red", "blue"]
        ok (optional) ["Yes", "No"]"#]]
    .assert_eq(&user.heard().join("\n"));
    let denied = TestUser::default();
    denied.answers.lock().unwrap().push(PermissionResponse::denied("no"));
    let result = call(&servers, "mcp__s__ask", json!({}), &denied).await;
    expect![[r#"{"action":"decline"}"#]].assert_eq(&shown(&result));
    let nobody = call(&servers, "mcp__s__ask", json!({}), &TestUser::default()).await;
    expect![[r#"{"action":"cancel"}"#]].assert_eq(&shown(&nobody));
    servers.close().await;
}
