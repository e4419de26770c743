//! Responses of Chat Completions.

use serde_json::{Map, Value, json};

use crate::server::answer::Answer;
use crate::server::event::{Event, EventKind};
use crate::server::reply::{ReasoningField, ReplyBlock, ReplyStop};
use crate::server::wire::pieces::{Counts, pieces};

/// The creation time of every response: 2023-11-14T22:13:20Z.
const CREATED: u64 = 1_700_000_000;

/// The events of a stream.
pub(in crate::server::wire) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let calls_alone = answer.blocks.iter().all(|block| matches!(block, ReplyBlock::Call { .. }));
    let content = if calls_alone && !answer.blocks.is_empty() { Value::Null } else { json!("") };
    let mut events =
        vec![chunk(answer, json!({"role": "assistant", "content": content, "refusal": null}), Value::Null)];
    let mut calls = 0;
    for (index, block) in answer.blocks.iter().enumerate() {
        events.extend(
            deltas(answer, index, block, calls).into_iter().map(|delta| chunk(answer, delta, Value::Null)),
        );
        if matches!(block, ReplyBlock::Call { .. }) {
            calls += 1;
        }
    }
    events.push(chunk(answer, json!({}), json!(stop_word(&answer.stop))));
    if let (true, Some(counts)) = (answer.request_info.extras.usage, Counts::of(&answer.usage)) {
        let mut last = head(answer, "chat.completion.chunk");
        last.insert("choices".into(), json!([]));
        last.insert("usage".into(), usage(&counts));
        events.push(Event::new("", &Value::Object(last)));
    }
    events.push(Event { name: String::new(), kind: EventKind::Event, data: "[DONE]".into() });
    events
}

/// The response as one body.
pub(in crate::server::wire) fn whole(answer: &Answer<'_>) -> Value {
    let mut text: Option<String> = None;
    let mut thought = String::new();
    let mut calls = Vec::new();
    for (index, block) in answer.blocks.iter().enumerate() {
        match block {
            ReplyBlock::Thinking { text, .. } => thought.push_str(text),
            ReplyBlock::Redacted { .. } | ReplyBlock::AnyCall => {}
            ReplyBlock::Text { text: more, .. } => text.get_or_insert_default().push_str(more),
            ReplyBlock::Call { id, name, arguments, .. } => calls.push(json!({
                "id": call_id(answer, id, index),
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            })),
        }
    }
    let mut message = json!({"role": "assistant", "content": text, "refusal": null, "annotations": []});
    if let Some(message) = message.as_object_mut() {
        if !calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        if !thought.is_empty() {
            message.insert(reasoning_key(answer.style.reasoning).into(), Value::String(thought));
        }
    }
    let mut body = head(answer, "chat.completion");
    let finish = stop_word(&answer.stop);
    body.insert(
        "choices".into(),
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}]),
    );
    if let Some(counts) = Counts::of(&answer.usage) {
        body.insert("usage".into(), usage(&counts));
    }
    Value::Object(body)
}

/// A text delta.
pub(in crate::server::wire) fn text_event(text: &str) -> Event {
    let data = json!({
        "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": CREATED, "model": "fake",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}],
    });
    Event::new("", &data)
}

fn head(answer: &Answer<'_>, object: &str) -> Map<String, Value> {
    let head = json!({
        "id": answer.id("chatcmpl-", 0),
        "object": object,
        "created": CREATED,
        "model": answer.request_info.model,
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    });
    head.as_object().cloned().unwrap_or_default()
}

fn chunk(answer: &Answer<'_>, delta: Value, finish: Value) -> Event {
    let mut chunk = head(answer, "chat.completion.chunk");
    chunk.insert(
        "choices".into(),
        json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]),
    );
    if answer.request_info.extras.usage {
        chunk.insert("usage".into(), Value::Null);
    }
    Event::new("", &Value::Object(chunk))
}

/// The deltas of one block; `call` is the number of tool calls before it.
fn deltas(answer: &Answer<'_>, index: usize, block: &ReplyBlock, call: usize) -> Vec<Value> {
    let chars = answer.style.delta_chars;
    match block {
        ReplyBlock::Thinking { text, signature } => {
            let mut deltas: Vec<Value> =
                pieces(text, chars).into_iter().map(|piece| thought(answer.style.reasoning, piece)).collect();
            if let (ReasoningField::ReasoningDetails, Some(signature)) = (answer.style.reasoning, signature) {
                deltas.push(json!({"reasoning_details": [{
                    "type": "reasoning.text", "signature": signature, "format": "anthropic-claude-v1", "index": 0}]}));
            }
            deltas
        }
        ReplyBlock::Redacted { data } => match answer.style.reasoning {
            ReasoningField::ReasoningDetails => vec![json!({"reasoning_details": [{
                "type": "reasoning.encrypted", "data": data, "id": answer.id("rs_", index),
                "format": "openai-responses-v1", "index": 0}]})],
            ReasoningField::ReasoningContent | ReasoningField::Reasoning => Vec::new(),
        },
        ReplyBlock::Text { text, .. } => {
            pieces(text, chars).into_iter().map(|piece| json!({"content": piece})).collect()
        }
        ReplyBlock::Call { id, name, arguments, .. } => {
            let id = call_id(answer, id, index);
            let first = json!({"tool_calls": [{"index": call, "id": id, "type": "function",
                "function": {"name": name, "arguments": ""}}]});
            let written = pieces(arguments, chars).into_iter();
            let written = written
                .map(|piece| json!({"tool_calls": [{"index": call, "function": {"arguments": piece}}]}));
            std::iter::once(first).chain(written).collect()
        }
        ReplyBlock::AnyCall => Vec::new(),
    }
}

fn thought(field: ReasoningField, piece: &str) -> Value {
    match field {
        ReasoningField::ReasoningContent => json!({"reasoning_content": piece}),
        ReasoningField::Reasoning => json!({"reasoning": piece}),
        ReasoningField::ReasoningDetails => json!({
            "reasoning": piece,
            "reasoning_details": [
                {"type": "reasoning.text", "text": piece, "format": "anthropic-claude-v1", "index": 0}],
        }),
    }
}

fn reasoning_key(field: ReasoningField) -> &'static str {
    match field {
        ReasoningField::ReasoningContent => "reasoning_content",
        ReasoningField::Reasoning | ReasoningField::ReasoningDetails => "reasoning",
    }
}

fn usage(counts: &Counts) -> Value {
    json!({
        "prompt_tokens": counts.prompt,
        "completion_tokens": counts.output,
        "total_tokens": counts.total,
        "prompt_tokens_details": {"cached_tokens": counts.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": counts.thinking, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
    })
}

fn call_id(answer: &Answer<'_>, id: &Option<String>, index: usize) -> String {
    id.clone().unwrap_or_else(|| answer.call_id(index))
}

fn stop_word(stop: &ReplyStop) -> &str {
    match stop {
        ReplyStop::Natural | ReplyStop::End => "stop",
        ReplyStop::ToolUse => "tool_calls",
        ReplyStop::Length => "length",
        ReplyStop::Refusal => "content_filter",
        ReplyStop::Word(word) => word,
    }
}
