//! Responses of the Responses API.

use serde_json::{Map, Value, json};

use crate::server::answer::Answer;
use crate::server::event::Event;
use crate::server::reply::{ReplyBlock, ReplyStop};
use crate::server::wire::pieces::{Counts, pieces};

/// The creation time of every response: 2023-11-14T22:13:20Z.
const CREATED: u64 = 1_700_000_000;

/// The events of a stream.
pub(in crate::server::wire) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut writer = Writer { answer, events: Vec::new() };
    let added_item = response(answer, "in_progress", Vec::new());
    writer.push("response.created", json!({"response": added_item}));
    writer.push("response.in_progress", json!({"response": added_item}));
    for (index, block) in answer.blocks.iter().enumerate() {
        writer.block(index, block);
    }
    let (name, status) = end(&answer.stop);
    let whole = response(answer, status, output(answer));
    writer.push(name, json!({"response": whole}));
    writer.events
}

/// The response as one body.
pub(in crate::server::wire) fn whole(answer: &Answer<'_>) -> Value {
    response(answer, end(&answer.stop).1, output(answer))
}

/// A text delta.
pub(in crate::server::wire) fn text_event(text: &str) -> Event {
    let data = json!({"type": "response.output_text.delta", "sequence_number": 9_000, "item_id": "msg_fake",
        "output_index": 0, "content_index": 0, "delta": text, "logprobs": []});
    Event::new("response.output_text.delta", &data)
}

/// Writes events with sequence numbers.
struct Writer<'a> {
    answer: &'a Answer<'a>,
    events: Vec<Event>,
}

impl Writer<'_> {
    fn push(&mut self, name: &str, mut data: Value) {
        if let Some(data) = data.as_object_mut() {
            data.insert("type".into(), json!(name));
            data.insert("sequence_number".into(), json!(self.events.len()));
        }
        self.events.push(Event::new(name, &data));
    }

    fn block(&mut self, index: usize, block: &ReplyBlock) {
        let Some(item) = item(self.answer, index, block) else { return };
        let id = item.get("id").cloned().unwrap_or_default();
        let added_item = added_item(&item);
        self.push("response.output_item.added", json!({"output_index": index, "item": added_item}));
        match block {
            ReplyBlock::Thinking { text, .. } => self.thinking(index, &id, text),
            ReplyBlock::Redacted { .. } | ReplyBlock::AnyCall => {}
            ReplyBlock::Text { text, .. } => self.text(index, &id, text),
            ReplyBlock::Call { arguments, .. } => self.arguments(index, &id, arguments),
        }
        self.push("response.output_item.done", json!({"output_index": index, "item": item}));
    }

    fn thinking(&mut self, index: usize, id: &Value, text: &str) {
        if text.is_empty() {
            return;
        }
        let at = |key: &str, value: Value| {
            let mut data = json!({"item_id": id, "output_index": index, "summary_index": 0});
            if let Some(data) = data.as_object_mut() {
                data.insert(key.to_owned(), value);
            }
            data
        };
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        self.push("response.reasoning_summary_part.added", at("part", part("")));
        for piece in pieces(text, self.answer.style.delta_chars) {
            self.push("response.reasoning_summary_text.delta", at("delta", json!(piece)));
        }
        self.push("response.reasoning_summary_text.done", at("text", json!(text)));
        self.push("response.reasoning_summary_part.done", at("part", part(text)));
    }

    fn text(&mut self, index: usize, id: &Value, text: &str) {
        let at = |more: Value| {
            let mut data = json!({"item_id": id, "output_index": index, "content_index": 0});
            if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
                data.extend(more);
            }
            data
        };
        self.push("response.content_part.added", at(json!({"part": text_part("")})));
        for piece in pieces(text, self.answer.style.delta_chars) {
            self.push("response.output_text.delta", at(json!({"delta": piece, "logprobs": []})));
        }
        self.push("response.output_text.done", at(json!({"text": text, "logprobs": []})));
        self.push("response.content_part.done", at(json!({"part": text_part(text)})));
    }

    fn arguments(&mut self, index: usize, id: &Value, arguments: &str) {
        for piece in pieces(arguments, self.answer.style.delta_chars) {
            self.push(
                "response.function_call_arguments.delta",
                json!({"item_id": id, "output_index": index, "delta": piece}),
            );
        }
        self.push(
            "response.function_call_arguments.done",
            json!({"item_id": id, "output_index": index, "arguments": arguments}),
        );
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
}

/// A finished output item.
fn item(answer: &Answer<'_>, index: usize, block: &ReplyBlock) -> Option<Value> {
    match block {
        ReplyBlock::Thinking { text, signature } => {
            let summary =
                if text.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": text}]) };
            Some(reasoning(answer, index, summary, signature.as_deref()))
        }
        ReplyBlock::Redacted { data } => Some(reasoning(answer, index, json!([]), Some(data))),
        ReplyBlock::Text { text, .. } => Some(json!({
            "id": answer.id("msg_", index),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [text_part(text)],
        })),
        ReplyBlock::Call { id, name, arguments, .. } => Some(json!({
            "id": answer.id("fc_", index),
            "type": "function_call",
            "status": "completed",
            "arguments": arguments,
            "call_id": id.clone().unwrap_or_else(|| answer.call_id(index)),
            "name": name,
        })),
        ReplyBlock::AnyCall => None,
    }
}

fn reasoning(answer: &Answer<'_>, index: usize, summary: Value, encrypted: Option<&str>) -> Value {
    let mut item = json!({"id": answer.id("rs_", index), "type": "reasoning", "summary": summary});
    if let (true, Some(item)) = (answer.request_info.extras.encrypted_thinking, item.as_object_mut()) {
        item.insert("encrypted_content".into(), json!(encrypted));
    }
    item
}

/// The item when it is added: still empty.
fn added_item(item: &Value) -> Value {
    let mut added_item: Map<String, Value> = item.as_object().cloned().unwrap_or_default();
    for (key, empty) in [
        ("content", json!([])),
        ("summary", json!([])),
        ("arguments", json!("")),
        ("status", json!("in_progress")),
    ] {
        if let Some(value) = added_item.get_mut(key) {
            *value = empty;
        }
    }
    Value::Object(added_item)
}

fn output(answer: &Answer<'_>) -> Vec<Value> {
    answer.blocks.iter().enumerate().filter_map(|(index, block)| item(answer, index, block)).collect()
}

/// The name of the last event and its status.
fn end(stop: &ReplyStop) -> (&'static str, &'static str) {
    match stop {
        ReplyStop::Length | ReplyStop::Refusal => ("response.incomplete", "incomplete"),
        ReplyStop::Natural | ReplyStop::End | ReplyStop::ToolUse | ReplyStop::Word(_) => {
            ("response.completed", "completed")
        }
    }
}

fn response(answer: &Answer<'_>, status: &str, output: Vec<Value>) -> Value {
    let incomplete = match (&answer.stop, status) {
        (ReplyStop::Length, "incomplete") => json!({"reason": "max_output_tokens"}),
        (ReplyStop::Refusal, "incomplete") => json!({"reason": "content_filter"}),
        _ => Value::Null,
    };
    let usage = Counts::of(&answer.usage).filter(|_| status != "in_progress").map(|counts| {
        json!({
            "input_tokens": counts.prompt,
            "input_tokens_details": {"cached_tokens": counts.cache_read},
            "output_tokens": counts.output,
            "output_tokens_details": {"reasoning_tokens": counts.thinking},
            "total_tokens": counts.total,
        })
    });
    json!({
        "id": answer.id("resp_", 0),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": incomplete,
        "instructions": null,
        "max_output_tokens": null,
        "model": answer.request_info.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null},
        "service_tier": "default",
        "store": false,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": null,
        "metadata": {},
    })
}
