//! Servers at an address: streamable HTTP, well-behaved and not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use rheon_connect::{HttpEndpoint, McpConnection, McpServerSpec, McpServers, McpStatus};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::{TestUser, call, servers, shown};

/// A server on this machine: its address, and the head of every request.
async fn server() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(answer(stream, Arc::clone(&log)));
        }
    });
    (address, seen)
}

async fn answer(mut stream: TcpStream, log: Arc<Mutex<Vec<String>>>) {
    let Some((head, body)) = request(&mut stream).await else { return };
    log.lock().unwrap().push(head.clone());
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let message: Value = serde_json::from_str(&body).unwrap_or_default();
    let result =
        |result: Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
    let text = |text: &str| result(json!({ "content": [{ "type": "text", "text": text }] }));
    let reply = match (path.as_str(), message["method"].as_str()) {
        ("/login", _) => plain("401 Unauthorized", "www-authenticate: Bearer realm=\"x\"", ""),
        ("/moved", _) => plain("307 Temporary Redirect", "location: http://127.0.0.1:1/mcp", ""),
        ("/page", _) => plain("200 OK", "content-type: text/html", "<h1>Welcome</h1>"),
        (_, None) => plain("405 Method Not Allowed", "x: y", ""),
        (_, Some("server/discover")) => plain("400 Bad Request", "content-type: text/plain", "no session"),
        (_, Some("initialize")) => {
            let info = json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "far", "version": "2" },
            });
            plain("200 OK", "content-type: application/json\r\nmcp-session-id: abc", &result(info))
        }
        (_, Some("tools/list")) => {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            let tools = ["echo", "long", "endless"].map(tool);
            let event = format!("event: message\ndata: {}\n\n", result(json!({ "tools": tools })));
            plain("200 OK", "content-type: text/event-stream", &event)
        }
        (_, Some("tools/call")) => match message["params"]["name"].as_str().unwrap() {
            "echo" => plain("200 OK", "content-type: application/json", &text("from afar")),
            "long" => {
                let long = text(&"x".repeat(9 << 20));
                plain("200 OK", "content-type: application/json", &long)
            }
            _ => {
                let head =
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: ";
                drop(stream.write_all(head.as_bytes()).await);
                // Until the client hangs up.
                while stream.write_all(&[b'x'; 65_536]).await.is_ok() {}
                return;
            }
        },
        (_, Some(_)) => plain("202 Accepted", "x: y", ""),
    };
    drop(stream.write_all(reply.as_bytes()).await);
    drop(stream.shutdown().await);
}

fn plain(status: &str, header: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0usize) {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
    }
}

fn spec(url: String) -> McpServerSpec {
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer key".to_owned().into())]);
    let spec = McpServerSpec::new("far", McpConnection::Http(HttpEndpoint { url, headers, login: None }));
    let startup = std::time::Duration::from_secs(3_600);
    McpServerSpec { timeouts: rheon_connect::McpTimeouts { startup, ..spec.timeouts }, ..spec }
}

async fn far(path: &str) -> (McpServers, Arc<Mutex<Vec<String>>>) {
    let (address, seen) = server().await;
    let (servers, _) = servers(vec![spec(format!("{address}{path}"))]);
    servers.settled(&["far".into()]).await;
    (servers, seen)
}

#[tokio::test]
async fn calls_go_over_http_in_one_session_with_the_configured_headers() {
    let (servers, seen) = far("/mcp").await;
    let view = servers.views().remove(0);
    assert_eq!(view.status, McpStatus::Connected, "{view:?}");
    let info = view.info.unwrap();
    assert_eq!((info.program.as_str(), info.protocol.as_str()), ("far 2", "2025-11-25"));
    let echo = call(&servers, "mcp__far__echo", json!({}), &TestUser::default()).await;
    assert_eq!(shown(&echo), "from afar");
    let heads = seen.lock().unwrap().clone();
    assert!(heads.iter().all(|head| head.contains("authorization: Bearer key")), "{heads:?}");
    let last = heads.iter().rfind(|head| head.starts_with("POST")).unwrap();
    assert!(
        last.contains("mcp-session-id: abc") && last.contains("mcp-protocol-version: 2025-11-25"),
        "{last}"
    );
    servers.close().await;
}

#[tokio::test]
async fn answers_beyond_the_limit_cost_one_call() {
    let (servers, _) = far("/mcp").await;
    for name in ["mcp__far__long", "mcp__far__endless"] {
        let long = call(&servers, name, json!({}), &TestUser::default()).await;
        assert!(shown(&long).starts_with("failed: the MCP server \"far\": "), "{}", shown(&long));
    }
    let echo = call(&servers, "mcp__far__echo", json!({}), &TestUser::default()).await;
    assert_eq!(shown(&echo), "from afar");
    servers.close().await;
}

/// An old server: messages go to one address, and events with the answers come from another.
async fn old_server(endpoint: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/sse", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut events: Option<TcpStream> = None;
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let Some((head, body)) = request(&mut stream).await else { continue };
            if head.starts_with("GET /sse ") {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                let first = format!("{head}: hello\n\nevent: endpoint\ndata: {endpoint}\n\n");
                stream.write_all(first.as_bytes()).await.unwrap();
                events = Some(stream);
                continue;
            }
            if !head.starts_with("POST /messages?session=1 ") {
                let refused = plain("405 Method Not Allowed", "x: y", "");
                drop(stream.write_all(refused.as_bytes()).await);
                continue;
            }
            drop(stream.write_all(plain("202 Accepted", "x: y", "").as_bytes()).await);
            let message: Value = serde_json::from_str(&body).unwrap();
            let result = match message["method"].as_str().unwrap() {
                "initialize" => json!({
                    "protocolVersion": "2024-11-05", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "old", "version": "0" },
                }),
                "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
                "tools/call" => json!({ "content": [{ "type": "text", "text": "from long ago" }] }),
                _ => continue,
            };
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            let event = format!("event: message\ndata: {answer}\n\n");
            events.as_mut().unwrap().write_all(event.as_bytes()).await.unwrap();
        }
    });
    address
}

#[tokio::test]
async fn old_servers_are_reached_by_their_events() {
    let (servers, _) = servers(vec![spec(old_server("/messages?session=1").await)]);
    servers.settled(&["far".into()]).await;
    let view = servers.views().remove(0);
    assert_eq!(view.status, McpStatus::Connected, "{view:?}");
    assert_eq!(view.info.unwrap().protocol, "2024-11-05");
    let echo = call(&servers, "mcp__far__echo", json!({}), &TestUser::default()).await;
    assert_eq!(shown(&echo), "from long ago");
    servers.close().await;
}

#[tokio::test]
async fn an_old_server_cannot_send_messages_elsewhere() {
    let spec = spec(old_server("http://127.0.0.1:1/messages").await);
    let error = rheon_connect::McpClient::connect(&spec).await.map(drop).unwrap_err();
    assert!(error.to_string().starts_with("cannot connect: "), "{error}");
}

#[tokio::test]
async fn addresses_that_are_no_servers_say_so() {
    let (servers, _) = far("/login").await;
    let view = servers.views().remove(0);
    expect!["the server requires authorization; log in, or set its Authorization header"]
        .assert_eq(&view.error.unwrap());
    assert_eq!((view.status, view.status.as_str()), (McpStatus::NeedsAuthorization, "needs-auth"));
    for path in ["/moved", "/page"] {
        let (servers, seen) = far(path).await;
        let error = servers.views().remove(0).error.unwrap();
        assert!(error.starts_with("cannot connect: "), "{error}");
        assert!(seen.lock().unwrap().iter().all(|head| head.contains(path)));
    }
}
