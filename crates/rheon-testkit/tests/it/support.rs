//! Shared by the server tests: a client and small requests for each wire.

use rheon_providers::wire::WireKind;
use rheon_testkit::server::FakeServer;
use serde_json::{Value, json};

/// A request with the message "hello" and streaming.
pub(crate) fn hello(wire: WireKind) -> Value {
    match wire {
        WireKind::Anthropic => json!({"model": "m", "max_tokens": 4096, "stream": true,
            "messages": [{"role": "user", "content": "hello"}]}),
        WireKind::Chat => json!({"model": "m", "stream": true, "stream_options": {"include_usage": true},
            "messages": [{"role": "user", "content": "hello"}]}),
        WireKind::Responses => json!({"model": "m", "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"], "input": "hello"}),
        WireKind::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}),
        WireKind::Bedrock => json!({"messages": [{"role": "user", "content": [{"text": "hello"}]}]}),
    }
}

/// The request URL of the wire.
pub(crate) fn address(server: &FakeServer, wire: WireKind) -> String {
    format!("{}{}", server.base_url(wire), wire.path().replace("{model}", "m"))
}

/// A request with a key and the headers of the wire.
pub(crate) fn post(
    client: &reqwest::Client,
    server: &FakeServer,
    wire: WireKind,
    body: &Value,
) -> reqwest::RequestBuilder {
    let mut request = client.post(address(server, wire)).json(body);
    for (name, value) in wire.headers() {
        request = request.header(*name, *value);
    }
    match wire {
        WireKind::Anthropic => request.header("x-api-key", "key"),
        WireKind::Gemini => request.header("x-goog-api-key", "key"),
        WireKind::Chat | WireKind::Responses | WireKind::Bedrock => request.bearer_auth("key"),
    }
}

/// The status and body of the response.
pub(crate) async fn ask(server: &FakeServer, wire: WireKind, body: &Value) -> (u16, Vec<u8>) {
    let answer = post(&client(), server, wire, body).send().await.unwrap();
    (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
}

/// The bytes of a response that breaks off, and whether it did.
pub(crate) async fn broken(mut answer: reqwest::Response) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return (bytes, false),
            Err(_) => return (bytes, true),
        }
    }
}

/// The result of each request: "ok", or status and message of the error. One line each.
pub(crate) async fn verdicts(wire: WireKind, requests: &[Value]) -> String {
    let server = FakeServer::start(rheon_testkit::server::Script::default()).await.unwrap();
    let mut lines = Vec::new();
    for request in requests {
        let (status, body) = ask(&server, wire, request).await;
        lines.push(match status {
            200 => "ok".to_owned(),
            _ => {
                let body: Value = serde_json::from_slice(&body).unwrap();
                let message = body.pointer("/error/message").or_else(|| body.get("message"));
                format!("{status} {}", message.unwrap().as_str().unwrap())
            }
        });
    }
    lines.join("\n")
}

/// `base` with the members of `change`; `null` removes one.
pub(crate) fn with(base: &Value, change: Value) -> Value {
    let mut changed = base.clone();
    for (key, value) in change.as_object().unwrap() {
        if value.is_null() {
            changed.as_object_mut().unwrap().remove(key);
        } else {
            changed[key] = value.clone();
        }
    }
    changed
}

/// A client builder. It trusts no certificates, because loading the system's takes longer than most tests.
pub(crate) fn client_builder() -> reqwest::ClientBuilder {
    rheon_providers::install_tls();
    reqwest::Client::builder().tls_certs_only([])
}

/// A client with separate connections.
pub(crate) fn client() -> reqwest::Client {
    client_builder().build().unwrap()
}
