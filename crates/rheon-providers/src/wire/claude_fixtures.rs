//! Conversations, models and readable results for the tests of the Anthropic and Bedrock wires.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{
    AssistantMessage, Chunk, Content, Draft, Message, ModelInfo, ProviderError, Request, Signature,
    SignatureKind, StopReason, SystemSection, Timestamp, ToolCall, ToolDefinition, ToolResultMessage, Usage,
    UserMessage,
};
use serde_json::{Value, json};

use super::{WireKind, WireRequest};
use crate::catalog::{Model, ThinkingStyle};
use crate::compat::{CacheStyle, Compat};
use crate::frame::Frame;

pub(super) const ORIGIN: &str = "vendor/claude-test";

/// A fully known model.
pub(super) fn model(thinking: ThinkingStyle) -> Model {
    let known = ModelInfo { known: true, output_tokens_max: 64_000, ..ModelInfo::unknown("claude-test") };
    Model { info: Arc::new(known), thinking, tool_style: None }
}

pub(super) fn budget() -> ThinkingStyle {
    ThinkingStyle::Budget { min: 1_024, max: 128_000, can_disable: true }
}

pub(super) fn request(messages: impl IntoIterator<Item = Message>) -> Request {
    let messages = messages.into_iter().map(|message| Arc::new(message.into())).collect();
    Request { messages, ..Request::new("claude-test") }
}

pub(super) fn user(text: &str) -> Message {
    Message::user(text, Timestamp::default())
}

pub(super) fn user_blocks(content: Vec<Content>) -> Message {
    Message::User(UserMessage { content, timestamp: Timestamp::default(), author: Default::default() })
}

pub(super) fn answer(content: Vec<Content>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        stop_reason: StopReason::Stop,
        model: "claude-test".into(),
        provider: "vendor".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    })
}

pub(super) fn call(id: &str, name: &str, arguments: Value) -> Content {
    let arguments = Arc::new(arguments);
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        malformed: None,
        key_order: None,
    })
}

pub(super) fn result(id: &str, content: Vec<Content>, is_error: bool) -> Message {
    let timestamp = Timestamp::default();
    let (tool_call_id, tool_name) = (id.into(), "read".into());
    Message::ToolResult(ToolResultMessage { tool_call_id, tool_name, content, is_error, timestamp })
}

pub(super) fn image() -> Content {
    Content::Image { data: "iVBORw0KGgo=".into(), mime_type: "image/png".into() }
}

pub(super) fn thinking(text: &str, data: &str, kind: SignatureKind, origin: &str) -> Content {
    let signature = Signature { data: data.into(), kind, id: None, origin: origin.into() };
    Content::Thinking { thinking: text.into(), signature: Some(signature) }
}

pub(super) fn tool(name: &str) -> ToolDefinition {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    ToolDefinition { name: name.into(), description: format!("The tool {name}."), parameters }
}

pub(super) fn section(text: &str, stable: bool) -> SystemSection {
    SystemSection { text: text.into(), stable }
}

/// The body of a request with caching, as indented JSON.
pub(super) fn encode(wire: WireKind, request: &Request, model: &Model) -> String {
    let cache = if wire == WireKind::Bedrock { CacheStyle::Points } else { CacheStyle::Marks };
    encode_for(wire, request, model, &Compat { cache, ..Compat::default() })
}

pub(super) fn encode_for(wire: WireKind, request: &Request, model: &Model, compat: &Compat) -> String {
    match wire.encode(&WireRequest { request, model, compat, origin: ORIGIN }) {
        Ok(bytes) => {
            let body: Value = serde_json::from_slice(&bytes).unwrap();
            format!("{body:#}\n")
        }
        Err(error) => format!("{:?}: {error}\n", error.kind),
    }
}

/// All chunks of a response, and the error that ended it.
pub(super) fn decode(wire: WireKind, frames: &[(&str, &str)]) -> (Vec<Chunk>, Option<ProviderError>) {
    let mut decoder = wire.decoder(ORIGIN.into());
    let mut chunks = VecDeque::new();
    let mut failure = None;
    for (name, data) in frames {
        if let Err(error) = decoder.frame(Frame { name, data }, &mut chunks) {
            failure = Some(error);
            break;
        }
    }
    if failure.is_none() {
        failure = decoder.finish(&mut chunks).err();
    }
    (chunks.into(), failure)
}

/// The same as text, one chunk per line.
pub(super) fn decoded(wire: WireKind, frames: &[(&str, &str)]) -> String {
    let (chunks, failure) = decode(wire, frames);
    let mut text: String = chunks.iter().map(|chunk| format!("{chunk:?}\n")).collect();
    if let Some(error) = failure {
        text.push_str(&format!("{:?}: {error}\n", error.kind));
    }
    text
}

/// The message that a run builds from a response.
pub(super) fn drafted(wire: WireKind, frames: &[(&str, &str)]) -> Message {
    let (chunks, failure) = decode(wire, frames);
    assert_eq!(failure, None);
    let mut draft = Draft::new();
    for chunk in &chunks {
        draft.push(chunk).unwrap();
    }
    answer(draft.finish(StopReason::Error).content)
}
