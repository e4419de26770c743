//! Responses of Anthropic Messages.

use serde_json::{Value, json};

use crate::server::answer::Answer;
use crate::server::event::Event;
use crate::server::reply::{ReplyBlock, ReplyStop};
use crate::server::wire::pieces::{Counts, pieces};

/// The events of a stream.
pub(in crate::server::wire) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let counts = Counts::of(&answer.usage);
    let mut message = message(answer, Vec::new(), Value::Null);
    let beginning = counts.as_ref().map(|counts| usage(counts, &counts.one));
    put(&mut message, "usage", beginning.unwrap_or_else(|| json!({})));
    let mut events = vec![event("message_start", json!({"message": message}))];
    for (index, block) in answer.blocks.iter().enumerate() {
        let (start, deltas) = block_parts(answer, index, block);
        events.push(event("content_block_start", json!({"index": index, "content_block": start})));
        if index == 0 {
            events.push(event("ping", json!({})));
        }
        events.extend(
            deltas
                .into_iter()
                .map(|delta| event("content_block_delta", json!({"index": index, "delta": delta}))),
        );
        events.push(event("content_block_stop", json!({"index": index})));
    }
    let mut end = json!({"delta": {"stop_reason": stop_word(&answer.stop), "stop_sequence": null}});
    if let Some(counts) = &counts {
        put(&mut end, "usage", usage(counts, &counts.output));
    }
    events.push(event("message_delta", end));
    events.push(event("message_stop", json!({})));
    events
}

/// The response as one body.
pub(in crate::server::wire) fn whole(answer: &Answer<'_>) -> Value {
    let content = answer.blocks.iter().enumerate().map(|(index, block)| whole_block(answer, index, block));
    let mut message = message(answer, content.collect(), json!(stop_word(&answer.stop)));
    if let Some(counts) = Counts::of(&answer.usage) {
        put(&mut message, "usage", usage(&counts, &counts.output));
    }
    message
}

/// A text delta.
pub(in crate::server::wire) fn text_event(text: &str) -> Event {
    event("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": text}}))
}

fn event(name: &str, mut data: Value) -> Event {
    put(&mut data, "type", json!(name));
    Event::new(name, &data)
}

fn put(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

fn message(answer: &Answer<'_>, content: Vec<Value>, stop: Value) -> Value {
    json!({
        "id": answer.id("msg_01", 0),
        "type": "message",
        "role": "assistant",
        "model": answer.request_info.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
    })
}

fn usage(counts: &Counts, output: &Value) -> Value {
    json!({
        "input_tokens": counts.input,
        "cache_creation_input_tokens": counts.cache_write,
        "cache_read_input_tokens": counts.cache_read,
        "output_tokens": output,
        "service_tier": "standard",
    })
}

/// The start of the block, and its deltas.
fn block_parts(answer: &Answer<'_>, index: usize, block: &ReplyBlock) -> (Value, Vec<Value>) {
    let chars = answer.style.delta_chars;
    match block {
        ReplyBlock::Thinking { text, signature } => {
            let mut deltas: Vec<Value> = pieces(text, chars)
                .into_iter()
                .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
                .collect();
            if let Some(signature) = signature {
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
            }
            (json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
        }
        ReplyBlock::Redacted { data } => (json!({"type": "redacted_thinking", "data": data}), Vec::new()),
        ReplyBlock::Text { text, .. } => {
            let deltas = pieces(text, chars).into_iter();
            let deltas = deltas.map(|piece| json!({"type": "text_delta", "text": piece})).collect();
            (json!({"type": "text", "text": ""}), deltas)
        }
        ReplyBlock::Call { id, name, arguments, .. } => {
            let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
            // The service sends no deltas for a call without arguments.
            let text = if arguments == "{}" { "" } else { arguments };
            let written = pieces(text, chars).into_iter();
            deltas.extend(written.map(|piece| json!({"type": "input_json_delta", "partial_json": piece})));
            (json!({"type": "tool_use", "id": call_id(answer, id, index), "name": name, "input": {}}), deltas)
        }
        ReplyBlock::AnyCall => (json!({"type": "text", "text": ""}), Vec::new()),
    }
}

fn whole_block(answer: &Answer<'_>, index: usize, block: &ReplyBlock) -> Value {
    match block {
        ReplyBlock::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature.as_deref().unwrap_or_default()})
        }
        ReplyBlock::Redacted { data } => json!({"type": "redacted_thinking", "data": data}),
        ReplyBlock::Text { text, .. } => json!({"type": "text", "text": text}),
        ReplyBlock::Call { id, name, arguments, .. } => json!({
            "type": "tool_use",
            "id": call_id(answer, id, index),
            "name": name,
            "input": serde_json::from_str(arguments).unwrap_or_else(|_| json!({})),
        }),
        ReplyBlock::AnyCall => json!({"type": "text", "text": ""}),
    }
}

fn call_id(answer: &Answer<'_>, id: &Option<String>, index: usize) -> String {
    id.clone().unwrap_or_else(|| answer.call_id(index))
}

fn stop_word(stop: &ReplyStop) -> &str {
    match stop {
        ReplyStop::Natural | ReplyStop::End => "end_turn",
        ReplyStop::ToolUse => "tool_use",
        ReplyStop::Length => "max_tokens",
        ReplyStop::Refusal => "refusal",
        ReplyStop::Word(word) => word,
    }
}
