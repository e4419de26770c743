//! Agents with tools of an MCP server and of an OpenAPI document.

use std::collections::BTreeMap;

use expect_test::expect;
use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon::tools::connect::{OpenApiConfig, OperationFilter};
use rheon_testkit::mcp_server_arguments;

const DOCUMENT: &str = r#"{"openapi":"3.1.0","servers":[{"url":"http://127.0.0.1:1"}],
    "paths":{"/pets/{id}":{"get":{"operationId":"getPet","parameters":[{"name":"id","in":"path"}]}}}}"#;

#[tokio::test]
async fn an_agent_calls_tools_from_elsewhere() {
    let scenario = Scenario::new()
        .turn(Turn::call("mcp__bash__echo", json!({ "word": "hello" })))
        .turn(Turn::call("getPet", json!({ "id": ".." })))
        .turn("Done.");
    let arguments = mcp_server_arguments("plain", "");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let environment = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]);
    let agent = Agent::builder()
        .provider(ScriptedProvider::new(scenario))
        .with_mcp_server_stdio("bash", &arguments, environment)
        .await
        .unwrap()
        .with_openapi_spec(DOCUMENT, OpenApiConfig::default(), OperationFilter::All)
        .unwrap()
        .on_approval(|_| async { PermissionDecision::Allow })
        .build()
        .unwrap();
    let output = agent.run("Say hello.").await.unwrap();
    let results: Vec<String> = output
        .messages
        .iter()
        .filter_map(|message| match message.as_llm() {
            Some(rheon::types::Message::ToolResult(result)) => Some(format!("{:?}", result.content)),
            _ => None,
        })
        .collect();
    expect![[r#"
        [Text { text: "hello" }]
        [Text { text: "`id` must not be \"..\"" }]"#]]
    .assert_eq(&results.join("\n"));
    let missing = Agent::builder().with_mcp_server_stdio("no-such-program-here", &[], BTreeMap::new()).await;
    expect![
        "cannot use the MCP server: cannot start no-such-program-here: No such file or directory (os error 2)"
    ]
    .assert_eq(missing.err().unwrap().message());
    let swagger = Agent::builder().with_openapi_spec(
        r#"{"swagger":"2.0"}"#,
        OpenApiConfig::default(),
        OperationFilter::All,
    );
    expect!["this is a Swagger 2.0 document; convert it to OpenAPI 3 first"]
        .assert_eq(swagger.err().unwrap().message());
}
