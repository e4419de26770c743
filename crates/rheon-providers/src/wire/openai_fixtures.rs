//! Test helpers for the OpenAI wires: conversations, golden requests, responses as text.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use rheon_types::{
    AssistantMessage, Chunk, Content, Draft, DraftOutcome, History, Message, ModelInfo, ProviderError,
    Request, Signature, SignatureKind, StopReason, Timestamp, ToolCall, ToolDefinition, ToolResultMessage,
    Usage, UserMessage,
};
use serde_json::{Value, json};

use super::{WireKind, WireRequest};
use crate::catalog::{Model, ThinkingStyle};
use crate::compat::Compat;
use crate::frame::Frame;

pub(super) const ORIGIN: &str = "acme/m-1";
pub(super) const AT: Timestamp = Timestamp::from_millis(0);

pub(super) fn user(text: &str) -> Message {
    Message::user(text, AT)
}

pub(super) fn user_with(content: Vec<Content>) -> Message {
    Message::User(UserMessage { content, timestamp: AT, author: rheon_types::Author::User })
}

pub(super) fn image(data: &str) -> Content {
    Content::Image { data: data.into(), mime_type: "image/png".into() }
}

pub(super) fn answer(content: Vec<Content>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        stop_reason: StopReason::Stop,
        model: "m-1".into(),
        provider: "acme".into(),
        usage: Usage::default(),
        timestamp: AT,
        error_message: None,
    })
}

pub(super) fn tool_call(id: &str, name: &str, arguments: Value) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    })
}

pub(super) fn result(id: &str, content: Vec<Content>) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content,
        is_error: false,
        timestamp: AT,
    })
}

pub(super) fn failed(id: &str, content: Vec<Content>) -> Message {
    match result(id, content) {
        Message::ToolResult(result) => Message::ToolResult(ToolResultMessage { is_error: true, ..result }),
        other => other,
    }
}

pub(super) fn thinking(text: &str, data: Option<(&str, Option<&str>)>, origin: &str) -> Content {
    let signature = data.map(|(data, id)| Signature {
        data: data.into(),
        kind: SignatureKind::Proof,
        id: id.map(str::to_owned),
        origin: origin.into(),
    });
    Content::Thinking { thinking: text.into(), signature }
}

pub(super) fn history(messages: impl IntoIterator<Item = Message>) -> History {
    let mut history = History::new();
    for message in messages {
        history.push(Arc::new(message.into()));
    }
    history
}

pub(super) fn request(messages: impl IntoIterator<Item = Message>) -> Request {
    Request { messages: history(messages), ..Request::new("m-1") }
}

pub(super) fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: format!("The tool {name}."),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }
}

/// Two parallel calls, one result with an image, one error, and another user message.
pub(super) fn with_tools() -> Vec<Message> {
    vec![
        user("look"),
        answer(vec![
            Content::text("I look."),
            tool_call("call_1", "read", json!({"path": "a \"b\"\n.png"})),
            tool_call(
                "call|2 with a name that no service takes as it stands, so it is rewritten",
                "list",
                json!({}),
            ),
        ]),
        result("call_1", vec![Content::text("one"), image("QUJD"), Content::text("two")]),
        failed(
            "call|2 with a name that no service takes as it stands, so it is rewritten",
            vec![Content::text("no such folder")],
        ),
        user("go on"),
    ]
}

pub(super) fn model(thinking: ThinkingStyle) -> Model {
    let info = ModelInfo { known: true, ..ModelInfo::unknown("m-1") };
    Model { info: Arc::new(info), thinking, tool_style: None }
}

pub(super) fn encoded(wire: WireKind, request: &Request, model: &Model, compat: &Compat) -> String {
    let call = WireRequest { request, model, compat, origin: ORIGIN };
    String::from_utf8(wire.encode(&call).unwrap()).unwrap()
}

pub(super) fn body(wire: WireKind, request: &Request, model: &Model, compat: &Compat) -> Value {
    serde_json::from_str(&encoded(wire, request, model, compat)).unwrap()
}

/// Compares a request with its golden file.
#[track_caller]
pub(super) fn golden(wire: WireKind, name: &str, request: &Request, model: &Model, compat: &Compat) {
    let body = body(wire, request, model, compat);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(wire.as_str())
        .join(format!("{name}.json"));
    let expected = std::fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
    // The order of fields does not matter, and depends on features of the JSON crate.
    if expected != Some(body.clone()) {
        let pretty = serde_json::to_string_pretty(&body).unwrap() + "\n";
        expect_test::expect_file![path].assert_eq(&pretty);
    }
}

/// The decoded response.
pub(super) struct Decoded {
    pub(super) chunks: Vec<Chunk>,
    pub(super) error: Option<ProviderError>,
}

/// Decodes frames (name and data), then the end of the body.
pub(super) fn decode<'a>(wire: WireKind, frames: impl IntoIterator<Item = (&'a str, &'a str)>) -> Decoded {
    let mut decoder = wire.decoder(ORIGIN.into());
    let mut chunks = VecDeque::new();
    let mut error = None;
    for (name, data) in frames {
        if let Err(problem) = decoder.frame(Frame { name, data }, &mut chunks) {
            error = Some(problem);
            break;
        }
    }
    if error.is_none() {
        error = decoder.finish(&mut chunks).err();
    }
    Decoded { chunks: chunks.into(), error }
}

impl Decoded {
    /// The response as the agent loop assembles it.
    pub(super) fn finished(&self) -> DraftOutcome {
        let mut draft = Draft::new();
        for chunk in &self.chunks {
            draft.push(chunk).unwrap();
        }
        draft.finish(StopReason::Error)
    }

    /// One line per chunk.
    pub(super) fn trace(&self) -> String {
        let mut trace = String::new();
        for chunk in &self.chunks {
            match chunk {
                Chunk::Model { model } => writeln!(trace, "model {model}"),
                Chunk::Provider { provider } => writeln!(trace, "provider {provider}"),
                Chunk::Text { delta } => writeln!(trace, "text {delta:?}"),
                Chunk::Thinking { delta } => writeln!(trace, "thinking {delta:?}"),
                Chunk::Signature { signature } => writeln!(
                    trace,
                    "signature {} id {} of {}",
                    signature.data,
                    signature.id.as_deref().unwrap_or("-"),
                    signature.origin
                ),
                Chunk::ToolCallStart { index, id, name } => writeln!(trace, "call {index} {id} {name}"),
                Chunk::ToolCallDelta { index, delta } => writeln!(trace, "call {index} + {delta}"),
                Chunk::ToolCallEnd { index } => writeln!(trace, "call {index} end"),
                Chunk::Block { block } => writeln!(trace, "block {block:?}"),
                Chunk::Notice { message } => writeln!(trace, "notice {message}"),
                Chunk::Usage { usage } => writeln!(
                    trace,
                    "usage {} in, {} out, {} read, {} written, {} in all",
                    usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens
                ),
                Chunk::Done { stop_reason } => writeln!(trace, "done {stop_reason:?}"),
            }
            .unwrap();
        }
        if let Some(error) = &self.error {
            writeln!(trace, "error {:?}: {}", error.kind, error.message).unwrap();
        }
        trace
    }
}
