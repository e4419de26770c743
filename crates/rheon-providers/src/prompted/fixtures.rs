//! Tools, requests and helpers for the tests in this directory.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{AgentMessage, Chunk, History, Message, Request, StopReason, Timestamp, ToolDefinition};
use serde_json::{Value, json};

use super::decode::{AnswerValue, Steps};
use super::lenient::{BareCalls, Lenient};

pub(super) fn tool(name: &str, parameters: Value) -> ToolDefinition {
    ToolDefinition { name: name.into(), description: format!("Does {name}."), parameters }
}

/// `read` with a string and a number, `list` without parameters.
pub(super) fn tools() -> Arc<[ToolDefinition]> {
    let read = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "lines": { "type": "integer" } },
        "required": ["path"]
    });
    Arc::from([tool("read", read), tool("list", json!({ "type": "object" }))])
}

pub(super) fn request(messages: impl IntoIterator<Item = Message>) -> Request {
    let messages =
        messages.into_iter().map(|message| Arc::new(AgentMessage::from(message))).collect::<History>();
    Request { messages, tools: tools(), ..Request::new("small") }
}

pub(super) fn user(text: &str) -> Message {
    Message::user(text, Timestamp::default())
}

pub(super) fn text(delta: &str) -> Chunk {
    Chunk::Text { delta: delta.into() }
}

pub(super) fn done(stop_reason: StopReason) -> Chunk {
    Chunk::Done { stop_reason }
}

/// The chunks of one call.
pub(super) fn call(index: u32, name: &str, arguments: &str) -> [Chunk; 3] {
    [
        Chunk::ToolCallStart { index, id: format!("call_{index}").into(), name: name.into() },
        Chunk::ToolCallDelta { index, delta: arguments.into() },
        Chunk::ToolCallEnd { index },
    ]
}

/// The output of prompted mode for `chunks`, with the pieces of a block joined.
pub(super) fn steps(chunks: impl IntoIterator<Item = Chunk>) -> Vec<Chunk> {
    steps_of(AnswerValue::Text, chunks)
}

pub(super) fn steps_of(answer: AnswerValue, chunks: impl IntoIterator<Item = Chunk>) -> Vec<Chunk> {
    let mut filter = Steps::new(tools(), answer);
    let mut out = VecDeque::new();
    chunks.into_iter().for_each(|chunk| filter.push(chunk, &mut out));
    merged(out)
}

/// The output of lenient mode for `chunks`, with the pieces of a block joined.
pub(super) fn lenient(chunks: impl IntoIterator<Item = Chunk>) -> Vec<Chunk> {
    let mut filter = Lenient::new(tools(), BareCalls::Recovered);
    let mut out = VecDeque::new();
    chunks.into_iter().for_each(|chunk| filter.push(chunk, &mut out));
    merged(out)
}

/// `answer` cut at these offsets (modulo its length, at character boundaries), and its end.
pub(super) fn pieces(answer: &str, cuts: &[usize]) -> Vec<Chunk> {
    let mut ends: Vec<usize> =
        cuts.iter().map(|cut| answer.floor_char_boundary(cut % (answer.len() + 1))).collect();
    ends.push(answer.len());
    ends.sort_unstable();
    let mut start = 0;
    let mut chunks = Vec::new();
    for end in ends {
        chunks.push(text(answer.get(start..end).unwrap()));
        start = end;
    }
    chunks.push(done(StopReason::Stop));
    chunks
}

/// `answer` character by character.
pub(super) fn characters(answer: &str) -> Vec<Chunk> {
    let chunks = answer.chars().map(|character| text(character.encode_utf8(&mut [0; 4])));
    chunks.chain([done(StopReason::Stop)]).collect()
}

pub(super) fn merged(chunks: impl IntoIterator<Item = Chunk>) -> Vec<Chunk> {
    let mut merged: Vec<Chunk> = Vec::new();
    for chunk in chunks {
        match (merged.last_mut(), &chunk) {
            (Some(Chunk::Text { delta: before }), Chunk::Text { delta }) => before.push_str(delta),
            (
                Some(Chunk::ToolCallDelta { index: a, delta: before }),
                Chunk::ToolCallDelta { index: b, delta },
            ) if a == b => {
                before.push_str(delta);
            }
            _ => merged.push(chunk),
        }
    }
    merged
}
