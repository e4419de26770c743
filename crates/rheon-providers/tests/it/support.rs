//! Requests, and whole responses.

use std::sync::Arc;

use futures::StreamExt;
use rheon_providers::scripted::{Scenario, ScriptedProvider};
use rheon_types::{
    AgentMessage, Chunk, ChunkStream, Content, History, Message, Provider, ProviderError, Request, Timestamp,
    ToolResultMessage,
};
use tokio_util::sync::CancellationToken;

pub(crate) type Item = Result<Chunk, ProviderError>;

pub(crate) fn request(messages: impl IntoIterator<Item = AgentMessage>) -> Request {
    let messages = messages.into_iter().map(Arc::new).collect::<History>();
    Request { messages, ..Request::new("asked") }
}

pub(crate) fn user(text: &str) -> AgentMessage {
    AgentMessage::user(text, Timestamp::from_millis(0))
}

pub(crate) fn result(tool: &str, text: &str) -> AgentMessage {
    AgentMessage::from(Message::ToolResult(ToolResultMessage {
        tool_call_id: "id".into(),
        tool_name: tool.into(),
        content: vec![Content::text(text)],
        is_error: false,
        timestamp: Timestamp::from_millis(0),
    }))
}

/// The stream for `message`, not yet polled, and its cancellation token.
pub(crate) fn open(provider: &ScriptedProvider, message: AgentMessage) -> (ChunkStream, CancellationToken) {
    let cancel = CancellationToken::new();
    (provider.stream(request([message]), cancel.clone()), cancel)
}

/// The whole response to `message`.
pub(crate) async fn ask(provider: &ScriptedProvider, message: AgentMessage) -> Vec<Item> {
    open(provider, message).0.collect().await
}

/// The response to "go" by a new provider.
pub(crate) async fn play(scenario: Scenario) -> Vec<Item> {
    ask(&ScriptedProvider::new(scenario), user("go")).await
}

/// The text of the response to `message`, or its error.
pub(crate) async fn text(provider: &ScriptedProvider, message: AgentMessage) -> String {
    let mut text = String::new();
    for item in ask(provider, message).await {
        match item {
            Ok(Chunk::Text { delta }) => text.push_str(&delta),
            Ok(_) => {}
            Err(error) => return error.to_string(),
        }
    }
    text
}

pub(crate) fn model() -> Item {
    Ok(Chunk::Model { model: "scripted".into() })
}

pub(crate) fn piece(delta: &str) -> Item {
    Ok(Chunk::Text { delta: delta.into() })
}

pub(crate) fn done(stop_reason: rheon_types::StopReason) -> Item {
    Ok(Chunk::Done { stop_reason })
}
