//! Answers of Responses.

use serde_json::{Map, Value, json};

use crate::server::answer::Answer;
use crate::server::event::Event;
use crate::server::reply::{ReplyBlock, ReplyStop};
use crate::server::wire::pieces::{Counts, pieces};

/// When every answer was made: 2023-11-14T22:13:20Z.
const CREATED: u64 = 1_700_000_000;

/// The events of a stream.
pub(in crate::server::wire) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut writer = Writer { answer, events: Vec::new() };
    let begun = response(answer, "in_progress", Vec::new());
    writer.push("response.created", json!({"response": begun}));
    writer.push("response.in_progress", json!({"response": begun}));
    for (place, block) in answer.blocks.iter().enumerate() {
        writer.block(place, block);
    }
    let (name, status) = end(&answer.stop);
    let whole = response(answer, status, output(answer));
    writer.push(name, json!({"response": whole}));
    writer.events
}

/// The answer as one body.
pub(in crate::server::wire) fn whole(answer: &Answer<'_>) -> Value {
    response(answer, end(&answer.stop).1, output(answer))
}

/// A piece of text.
pub(in crate::server::wire) fn text_event(text: &str) -> Event {
    let data = json!({"type": "response.output_text.delta", "sequence_number": 9_000, "item_id": "msg_fake",
        "output_index": 0, "content_index": 0, "delta": text, "logprobs": []});
    Event::new("response.output_text.delta", &data)
}

/// Writes events with numbers in sequence.
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

    fn block(&mut self, place: usize, block: &ReplyBlock) {
        let Some(item) = item(self.answer, place, block) else { return };
        let id = item.get("id").cloned().unwrap_or_default();
        let begun = begun(&item);
        self.push("response.output_item.added", json!({"output_index": place, "item": begun}));
        match block {
            ReplyBlock::Thinking { text, .. } => self.thinking(place, &id, text),
            ReplyBlock::Redacted { .. } | ReplyBlock::AnyCall => {}
            ReplyBlock::Text { text, .. } => self.text(place, &id, text),
            ReplyBlock::Call { arguments, .. } => self.arguments(place, &id, arguments),
        }
        self.push("response.output_item.done", json!({"output_index": place, "item": item}));
    }

    fn thinking(&mut self, place: usize, id: &Value, text: &str) {
        if text.is_empty() {
            return;
        }
        let at = |key: &str, value: Value| {
            let mut data = json!({"item_id": id, "output_index": place, "summary_index": 0});
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

    fn text(&mut self, place: usize, id: &Value, text: &str) {
        let at = |more: Value| {
            let mut data = json!({"item_id": id, "output_index": place, "content_index": 0});
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

    fn arguments(&mut self, place: usize, id: &Value, arguments: &str) {
        for piece in pieces(arguments, self.answer.style.delta_chars) {
            self.push(
                "response.function_call_arguments.delta",
                json!({"item_id": id, "output_index": place, "delta": piece}),
            );
        }
        self.push(
            "response.function_call_arguments.done",
            json!({"item_id": id, "output_index": place, "arguments": arguments}),
        );
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
}

/// One finished item of the output.
fn item(answer: &Answer<'_>, place: usize, block: &ReplyBlock) -> Option<Value> {
    match block {
        ReplyBlock::Thinking { text, signature } => {
            let summary =
                if text.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": text}]) };
            Some(reasoning(answer, place, summary, signature.as_deref()))
        }
        ReplyBlock::Redacted { data } => Some(reasoning(answer, place, json!([]), Some(data))),
        ReplyBlock::Text { text, .. } => Some(json!({
            "id": answer.id("msg_", place),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [text_part(text)],
        })),
        ReplyBlock::Call { id, name, arguments, .. } => Some(json!({
            "id": answer.id("fc_", place),
            "type": "function_call",
            "status": "completed",
            "arguments": arguments,
            "call_id": id.clone().unwrap_or_else(|| answer.call_id(place)),
            "name": name,
        })),
        ReplyBlock::AnyCall => None,
    }
}

fn reasoning(answer: &Answer<'_>, place: usize, summary: Value, encrypted: Option<&str>) -> Value {
    let mut item = json!({"id": answer.id("rs_", place), "type": "reasoning", "summary": summary});
    if let (true, Some(item)) = (answer.asked.wants.encrypted_thinking, item.as_object_mut()) {
        item.insert("encrypted_content".into(), json!(encrypted));
    }
    item
}

/// The item as it is when it is added: nothing in it yet.
fn begun(item: &Value) -> Value {
    let mut begun: Map<String, Value> = item.as_object().cloned().unwrap_or_default();
    for (key, empty) in [
        ("content", json!([])),
        ("summary", json!([])),
        ("arguments", json!("")),
        ("status", json!("in_progress")),
    ] {
        if let Some(value) = begun.get_mut(key) {
            *value = empty;
        }
    }
    Value::Object(begun)
}

fn output(answer: &Answer<'_>) -> Vec<Value> {
    answer.blocks.iter().enumerate().filter_map(|(place, block)| item(answer, place, block)).collect()
}

/// The name of the last event and the status it reports.
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
        "model": answer.asked.model,
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
