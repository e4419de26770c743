//! Token counts by the service: the request, and how the response is used.

use rheon_types::Provider;
use serde_json::{Value, json};

use super::count::count_body;
use super::testing::{Keys, endpoint, provider_at, request};
use crate::test_server::{Server, Step, answer};
use crate::wire::WireKind;

fn body_for(wire: WireKind, url: &str, body: &Value) -> Option<Value> {
    let count_body = count_body(wire, url, "m", body.to_string().as_bytes())?;
    serde_json::from_slice(&count_body).ok()
}

#[test]
fn count_request_has_only_accepted_fields() {
    let body =
        json!({"model": "m", "max_tokens": 5, "stream": true, "messages": [1], "system": "s", "tools": []});
    assert_eq!(
        body_for(WireKind::Anthropic, "", &body),
        Some(json!({"model": "m", "messages": [1], "system": "s", "tools": []}))
    );
    let body = json!({"model": "m", "stream": true, "store": false, "input": [1], "instructions": "s"});
    assert_eq!(
        body_for(WireKind::Responses, "", &body),
        Some(json!({"model": "m", "input": [1], "instructions": "s"}))
    );
    let body = json!({"messages": [1], "system": [2], "inferenceConfig": {}, "toolConfig": {"tools": []}});
    assert_eq!(
        body_for(WireKind::Bedrock, "", &body),
        Some(json!({"input": {"converse": {"messages": [1], "system": [2], "toolConfig": {"tools": []}}}}))
    );
    let body = json!({"contents": [1], "generationConfig": {}, "systemInstruction": 2});
    assert_eq!(
        body_for(WireKind::Gemini, "https://x/v1beta/models/m:countTokens", &body),
        Some(
            json!({"generateContentRequest": {"contents": [1], "systemInstruction": 2, "model": "models/m"}})
        )
    );
    assert_eq!(
        body_for(WireKind::Gemini, "https://x/publishers/google/models/m:countTokens", &body),
        Some(json!({"contents": [1], "systemInstruction": 2}))
    );
    assert_eq!(body_for(WireKind::Chat, "", &body), None);
    assert_eq!(body_for(WireKind::Anthropic, "", &json!([])), None);
}

#[tokio::test]
async fn service_counts_or_estimate_is_used() {
    let server = Server::start([
        answer("200 OK", &[], r#"{"input_tokens": 77}"#),
        answer("200 OK", &[], r#"{"input_tokens": -1}"#),
        answer("404 Not Found", &[], ""),
        answer("200 OK", &[], "garbage"),
        vec![Step::Close],
    ])
    .await;
    let mut endpoint = endpoint(WireKind::Anthropic, &server);
    endpoint.count_url = Some(format!("{}/v1/messages/count_tokens", server.url));
    let provider = provider_at(endpoint, Keys::new(["topsecret"]));
    let request = request();
    let mut counts = Vec::new();
    for _ in 0..5 {
        counts.push(provider.count_tokens(&request).get().await);
    }
    assert_eq!(counts, [Some(77), Some(1_004), Some(1_004), Some(1_004), Some(1_004)]);
    assert!(server.requests()[0].starts_with("POST /v1/messages/count_tokens?key=topsecret HTTP/1.1\r\n"));
}
