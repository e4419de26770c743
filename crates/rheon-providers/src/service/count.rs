//! Token counts by the service, where it supports them.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use rheon_types::Request;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::exchange::ERROR_BYTES_MAX;
use super::shared::Shared;
use crate::wire::WireKind;

/// How long to wait for a count.
const COUNT_TIMEOUT: Duration = Duration::from_secs(20);

/// The service's token count for `request`, or `None` if it gives none.
pub(super) async fn request_count(shared: &Shared, url: &str, request: &Request) -> Option<u64> {
    timeout(COUNT_TIMEOUT, count(shared, url, request)).await.ok().flatten()
}

async fn count(shared: &Shared, url: &str, request: &Request) -> Option<u64> {
    let wire = shared.endpoint.wire;
    let body = count_body(wire, url, &request.model, &shared.encode(request).ok()?)?;
    let sent = shared.http_request(url, &request.model, body, "application/json").ok()?;
    let mut response = shared.exchange(&sent).await.ok()?;
    let body = response.read_to_end(Bytes::new(), ERROR_BYTES_MAX).await.ok()?;
    let answer: Value = serde_json::from_slice(&body.bytes).ok()?;
    answer.get(count_field(wire)?)?.as_u64()
}

/// The body of a count request, derived from the request body: only fields that the endpoint accepts.
pub(super) fn count_body(wire: WireKind, url: &str, model: &str, encoded: &[u8]) -> Option<Vec<u8>> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(encoded).ok()?;
    let accepted: BTreeMap<&str, &RawValue> = fields
        .iter()
        .filter(|(name, _)| count_fields(wire).contains(&name.as_str()))
        .map(|(n, v)| (n.as_str(), *v))
        .collect();
    let count_body = match wire {
        WireKind::Anthropic | WireKind::Responses => return serde_json::to_vec(&accepted).ok(),
        WireKind::Bedrock => json!({ "input": { "converse": accepted } }),
        // Vertex accepts the fields directly; the Gemini API requires the whole request with its model.
        WireKind::Gemini if url.contains("/publishers/") => return serde_json::to_vec(&accepted).ok(),
        WireKind::Gemini => {
            let mut request = json!(accepted);
            request.as_object_mut()?.insert("model".into(), format!("models/{model}").into());
            json!({ "generateContentRequest": request })
        }
        WireKind::Chat => return None,
    };
    serde_json::to_vec(&count_body).ok()
}

fn count_fields(wire: WireKind) -> &'static [&'static str] {
    match wire {
        WireKind::Anthropic => &["model", "messages", "system", "tools", "tool_choice", "thinking"],
        WireKind::Responses => {
            &["model", "input", "instructions", "tools", "tool_choice", "text", "reasoning"]
        }
        WireKind::Gemini => &["contents", "systemInstruction", "system_instruction", "tools"],
        WireKind::Bedrock => &["messages", "system", "toolConfig"],
        WireKind::Chat => &[],
    }
}

fn count_field(wire: WireKind) -> Option<&'static str> {
    match wire {
        WireKind::Anthropic | WireKind::Responses => Some("input_tokens"),
        WireKind::Gemini => Some("totalTokens"),
        WireKind::Bedrock => Some("inputTokens"),
        WireKind::Chat => None,
    }
}
