//! Our server layer, called by our client: over HTTP and over lines, in the newest version of the protocol and in older ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use rheon_connect::{
    HttpEndpoint, HttpService, McpCaller, McpClient, McpConnection, McpProtocol, McpQuestion, McpRefusal,
    McpRequest, McpServerSpec, McpService, McpServiceInfo, McpTimeouts, serve_http, serve_lines,
};
use rheon_types::BoxFuture;
use rheon_types::event::{PermissionDecision, PermissionResponse};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::fixture::{TestUser, call, servers, until};

/// Greets whom it is told to greet. Its tool `grow` adds a tool.
struct Greeter {
    tools: watch::Sender<u64>,
}

impl Greeter {
    fn new() -> Arc<Self> {
        Arc::new(Self { tools: watch::Sender::new(0) })
    }
}

impl McpService for Greeter {
    fn about(&self) -> McpServiceInfo {
        McpServiceInfo {
            name: "greeter".into(),
            version: "1".into(),
            instructions: Some("Be polite.".into()),
            capabilities: json!({ "tools": { "listChanged": true } }),
        }
    }

    fn tool_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.tools.subscribe())
    }

    fn answer(
        self: Arc<Self>,
        request: McpRequest,
        caller: McpCaller,
    ) -> BoxFuture<'static, Result<Value, McpRefusal>> {
        Box::pin(async move {
            let tool = |name: &str| json!({ "name": name, "description": name, "inputSchema": { "type": "object" } });
            match (request.method.as_str(), request.params["name"].as_str()) {
                ("tools/list", _) => {
                    let grown = (0..*self.tools.borrow()).map(|number| tool(&format!("grown_{number}")));
                    let tools: Vec<Value> =
                        [tool("greet"), tool("hang"), tool("grow")].into_iter().chain(grown).collect();
                    Ok(json!({ "tools": tools }))
                }
                ("tools/call", Some("grow")) => {
                    self.tools.send_modify(|count| *count += 1);
                    Ok(json!({ "content": [] }))
                }
                ("tools/call", Some("greet")) => greet(&caller).await,
                ("tools/call", Some("hang")) => {
                    caller.progress(1.0, None, Some("hanging")).await;
                    caller.cancellation().cancelled().await;
                    Err(McpRefusal::failed("canceled"))
                }
                _ => Err(McpRefusal::unknown_method()),
            }
        })
    }
}

async fn greet(caller: &McpCaller) -> Result<Value, McpRefusal> {
    caller.progress(1.0, Some(2.0), Some("asking")).await;
    let mut said = String::new();
    for field in ["name", "town"] {
        let schema =
            json!({ "type": "object", "properties": { field: { "type": "string" } }, "required": [field] });
        let question = McpQuestion::form(&format!("Your {field}?"), &schema);
        let answers = caller.ask(BTreeMap::from([(field.to_owned(), question)])).await?;
        said.push_str(answers[field]["content"][field].as_str().unwrap_or("?"));
        said.push(' ');
    }
    Ok(json!({ "content": [{ "type": "text", "text": format!("Hello, {}!", said.trim()) }] }))
}

/// The greeter at an address of this machine; stops when the guard is dropped.
async fn greeter() -> (String, tokio_util::sync::DropGuard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    let http = HttpService { listener, token: Some("secret".to_owned().into()), stop: stop.clone() };
    tokio::spawn(serve_http(Greeter::new(), http));
    (url, stop.drop_guard())
}

fn spec(url: &str, token: &str, protocol: McpProtocol) -> McpServerSpec {
    let headers = BTreeMap::from([("Authorization".to_owned(), format!("Bearer {token}").into())]);
    let endpoint = HttpEndpoint { url: url.to_owned(), headers, login: None };
    let spec = McpServerSpec::new("greeter", McpConnection::Http(endpoint));
    let timeouts = McpTimeouts { startup: Duration::from_secs(3_600), ..spec.timeouts };
    McpServerSpec { timeouts, protocol, ..spec }
}

#[tokio::test]
async fn questions_reach_the_user_in_every_version_of_the_protocol() {
    let (url, _guard) = greeter().await;
    for (protocol, version) in
        [(McpProtocol::NewestFirst, "2026-07-28"), (McpProtocol::Initialize, "2025-11-25")]
    {
        let client = McpClient::connect(&spec(&url, "secret", protocol)).await.unwrap();
        let info = client.info();
        assert_eq!((info.protocol.as_str(), info.instructions.as_deref()), (version, Some("Be polite.")));
        let user = TestUser::default();
        let answer = |text: &str| PermissionResponse {
            answers: vec![vec![text.to_owned()]],
            ..PermissionDecision::Allow.into()
        };
        user.answers.lock().unwrap().extend([answer("Ann"), answer("Oslo")]);
        let said = client.call_tool("greet", &json!({}), Some(&user.context())).await.unwrap();
        assert_eq!(said, vec![rheon_types::Content::text("Hello, Ann Oslo!")], "{version}");
        let heard = user.heard();
        assert!(heard.contains(&"asking (1/2)".to_owned()), "{version}: {heard:?}");
        let refused = client.call_tool("dance", &json!({}), None).await.unwrap_err();
        assert_eq!(refused.to_string(), "unknown method");
        client.close().await;
    }
}

#[tokio::test]
async fn new_tools_of_a_server_are_offered_in_the_newest_version_too() {
    let (url, _guard) = greeter().await;
    let (servers, _) = servers(vec![spec(&url, "secret", McpProtocol::NewestFirst)]);
    servers.settled(&["greeter".into()]).await;
    assert_eq!(servers.views()[0].info.clone().unwrap().protocol, "2026-07-28");
    call(&servers, "mcp__greeter__grow", json!({}), &TestUser::default()).await.unwrap();
    until(&servers, |servers| servers.views()[0].tools.iter().any(|tool| tool.remote_name == "grown_0"))
        .await;
    servers.close().await;
}

#[tokio::test]
async fn a_call_that_is_given_up_is_canceled_at_the_service() {
    let (url, _guard) = greeter().await;
    let client = McpClient::connect(&spec(&url, "secret", McpProtocol::Initialize)).await.unwrap();
    let user = TestUser::default();
    let context = user.context();
    let arguments = json!({});
    let call = client.call_tool("hang", &arguments, Some(&context));
    let cancel = async {
        while user.heard().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        user.cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.unwrap_err().to_string(), "canceled");
    client.close().await;
}

#[tokio::test]
async fn only_programs_with_the_token_under_the_name_of_this_machine_are_answered() {
    let (url, _guard) = greeter().await;
    let refused =
        McpClient::connect(&spec(&url, "guessed", McpProtocol::NewestFirst)).await.map(drop).unwrap_err();
    expect!["the server requires authorization; log in, or set its Authorization header"]
        .assert_eq(&refused.to_string());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let status = async |path: &str, header: (&str, &str)| {
        let request = http
            .post(url.replace("/mcp", path))
            .header(header.0, header.1)
            .header("authorization", "Bearer secret");
        request
            .header("accept", "application/json, text/event-stream")
            .body("{}")
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    };
    assert_eq!(status("/other", ("x", "y")).await, 404);
    assert_eq!(status("/mcp", ("host", "evil.example.com")).await, 403);
    assert_eq!(status("/mcp", ("origin", "https://evil.example.com")).await, 403);
}

/// Sends lines to a greeter and collects what it answers.
async fn talk(lines: &[Value]) -> Vec<Value> {
    let (input, received) = mpsc::channel(16);
    let (output, mut written) = mpsc::unbounded_channel();
    let serving = tokio::spawn(serve_lines(Greeter::new(), received, output));
    let mut answers = Vec::new();
    for line in lines {
        input.send(line.to_string()).await.unwrap();
        if line.get("id").is_some() || line.is_array() {
            answers.push(serde_json::from_str(&written.recv().await.unwrap()).unwrap());
        }
    }
    drop(input);
    serving.await.unwrap();
    answers
}

fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

#[tokio::test]
async fn a_call_that_waits_for_input_goes_on_only_with_its_own_state() {
    let call = |id: u32, more: Value| {
        let mut params =
            json!({ "name": "greet", "arguments": {}, "_meta": meta(&json!({ "elicitation": {} })) });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let (input, received) = mpsc::channel(16);
    let (output, mut written) = mpsc::unbounded_channel::<String>();
    tokio::spawn(serve_lines(Greeter::new(), received, output));
    let mut ask = async |line: Value| -> Value {
        input.send(line.to_string()).await.unwrap();
        serde_json::from_str(&written.recv().await.unwrap()).unwrap()
    };
    let first = ask(call(1, json!({}))).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    assert_eq!(first["result"]["inputRequests"]["name"]["method"], "elicitation/create");
    let state = first["result"]["requestState"].clone();
    let accept =
        |field: &str, value: &str| json!({ field: { "action": "accept", "content": { field: value } } });
    let guessed =
        ask(call(2, json!({ "requestState": "guessed", "inputResponses": accept("name", "Ann") }))).await;
    assert_eq!(guessed["error"]["code"], -32_602);
    // Without the answer it asks again.
    let again =
        ask(call(3, json!({ "requestState": state, "inputResponses": { "name": 7, "other": {} } }))).await;
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    let used = ask(call(4, json!({ "requestState": state, "inputResponses": accept("name", "Ann") }))).await;
    assert_eq!(used["error"]["code"], -32_602);
    let state = again["result"]["requestState"].clone();
    let second =
        ask(call(5, json!({ "requestState": state, "inputResponses": accept("name", "Ann") }))).await;
    assert!(second["result"]["inputRequests"]["town"].is_object(), "{second}");
    let state = second["result"]["requestState"].clone();
    let done = ask(call(6, json!({ "requestState": state, "inputResponses": accept("town", "Oslo") }))).await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Ann Oslo!");
}

#[tokio::test]
async fn clients_that_cannot_ask_and_lines_that_are_no_messages_are_told() {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "greet", "arguments": {}, "_meta": meta(&json!({})) } });
    let answers =
        talk(&[json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }), json!([1]), call]).await;
    expect![[r#"{"error":{"code":-32600,"message":"this is not a message of the protocol"},"id":null,"jsonrpc":"2.0"}"#]]
        .assert_eq(&answers[0].to_string());
    expect![[r#"{"code":-32021,"data":{"requiredCapabilities":{"elicitation":{}}},"message":"this needs the capability \"elicitation\" of the client"}"#]]
        .assert_eq(&answers[1]["error"].to_string());
}
