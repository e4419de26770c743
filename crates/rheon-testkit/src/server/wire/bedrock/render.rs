//! Responses of Bedrock.

use base64::Engine as _;
use serde_json::{Value, json};

use crate::server::answer::Answer;
use crate::server::event::Event;
use crate::server::reply::{ReplyBlock, ReplyStop};
use crate::server::wire::pieces::{Counts, pieces};

/// Padding that hides the length of an event's text.
const PADDING: &str = "abcdefghijklmnopqrstuvwxyz";

/// The events of a stream.
pub(in crate::server::wire) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut events = vec![event("messageStart", json!({"role": "assistant"}))];
    for (index, block) in answer.blocks.iter().enumerate() {
        if let ReplyBlock::Call { id, name, .. } = block {
            let start = json!({"toolUse": {"toolUseId": call_id(answer, id, index), "name": name}});
            events.push(event("contentBlockStart", json!({"contentBlockIndex": index, "start": start})));
        }
        let deltas = deltas(block, answer.style.delta_chars).into_iter();
        events
            .extend(deltas.map(|delta| {
                event("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}))
            }));
        events.push(event("contentBlockStop", json!({"contentBlockIndex": index})));
    }
    events.push(event("messageStop", json!({"stopReason": stop_word(&answer.stop)})));
    let mut metadata = json!({"metrics": {"latencyMs": 1}});
    if let (Some(metadata), Some(counts)) = (metadata.as_object_mut(), Counts::of(&answer.usage)) {
        metadata.insert("usage".into(), usage(&counts));
    }
    events.push(event("metadata", metadata));
    events
}

/// The response as one body.
pub(in crate::server::wire) fn whole(answer: &Answer<'_>) -> Value {
    let content: Vec<Value> =
        answer.blocks.iter().enumerate().map(|(index, block)| whole_block(answer, index, block)).collect();
    let mut body = json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop_word(&answer.stop),
        "metrics": {"latencyMs": 1},
    });
    if let (Some(body), Some(counts)) = (body.as_object_mut(), Counts::of(&answer.usage)) {
        body.insert("usage".into(), usage(&counts));
    }
    body
}

/// A text delta.
pub(in crate::server::wire) fn text_event(text: &str) -> Event {
    event("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"text": text}}))
}

fn event(name: &str, mut data: Value) -> Event {
    if let Some(data) = data.as_object_mut() {
        let padding: String = PADDING.chars().take(5 + name.len() % 13).collect();
        data.insert("p".into(), Value::String(padding));
    }
    Event::new(name, &data)
}

fn deltas(block: &ReplyBlock, chars: usize) -> Vec<Value> {
    match block {
        ReplyBlock::Thinking { text, signature } => {
            let mut deltas: Vec<Value> = pieces(text, chars)
                .into_iter()
                .map(|piece| json!({"reasoningContent": {"text": piece}}))
                .collect();
            if let Some(signature) = signature {
                deltas.push(json!({"reasoningContent": {"signature": signature}}));
            }
            deltas
        }
        ReplyBlock::Redacted { data } => vec![json!({"reasoningContent": {"redactedContent": blob(data)}})],
        ReplyBlock::Text { text, .. } => {
            pieces(text, chars).into_iter().map(|piece| json!({"text": piece})).collect()
        }
        ReplyBlock::Call { arguments, .. } => {
            // The service sends no deltas for a call without arguments.
            let text = if arguments == "{}" { "" } else { arguments };
            pieces(text, chars).into_iter().map(|piece| json!({"toolUse": {"input": piece}})).collect()
        }
        ReplyBlock::AnyCall => Vec::new(),
    }
}

fn whole_block(answer: &Answer<'_>, index: usize, block: &ReplyBlock) -> Value {
    match block {
        ReplyBlock::Thinking { text, signature } => {
            json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}})
        }
        ReplyBlock::Redacted { data } => json!({"reasoningContent": {"redactedContent": blob(data)}}),
        ReplyBlock::Text { text, .. } => json!({"text": text}),
        ReplyBlock::Call { id, name, arguments, .. } => json!({"toolUse": {
            "toolUseId": call_id(answer, id, index),
            "name": name,
            "input": serde_json::from_str(arguments).unwrap_or_else(|_| json!({})),
        }}),
        ReplyBlock::AnyCall => json!({"text": ""}),
    }
}

/// Bytes are base64 in JSON; data that already is base64 stays unchanged.
fn blob(data: &str) -> String {
    let engine = base64::engine::general_purpose::STANDARD;
    if engine.decode(data).is_ok() { data.to_owned() } else { engine.encode(data) }
}

fn usage(counts: &Counts) -> Value {
    json!({
        "inputTokens": counts.input,
        "outputTokens": counts.output,
        "totalTokens": counts.total,
        "cacheReadInputTokens": counts.cache_read,
        "cacheWriteInputTokens": counts.cache_write,
    })
}

fn call_id(answer: &Answer<'_>, id: &Option<String>, index: usize) -> String {
    id.clone().unwrap_or_else(|| answer.call_id(index))
}

fn stop_word(stop: &ReplyStop) -> &str {
    match stop {
        ReplyStop::Natural | ReplyStop::End => "end_turn",
        ReplyStop::ToolUse => "tool_use",
        ReplyStop::Length => "max_tokens",
        ReplyStop::Refusal => "content_filtered",
        ReplyStop::Word(word) => word,
    }
}
