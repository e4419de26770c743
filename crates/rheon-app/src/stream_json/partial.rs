//! `Partial`: a streamed answer in the events of Anthropic's API, for any provider.

use std::path::Path;
use std::sync::Arc;

use rheon_store::claude::{stop_reason_text, usage_json, wire_call_id};
use rheon_types::{AssistantMessage, Content, ToolCall, ToolCallId, ToolName, Usage};
use serde_json::{Value, json};

use super::tool::{claude_call, claude_tool_name};

/// The answer that is being streamed.
#[derive(Debug)]
pub(super) struct Partial {
    blocks: u64,
    open: Option<(u64, Prose)>,
    /// Calls with incomplete arguments. Services may stream several at once.
    calls: Vec<OpenCall>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prose {
    Text,
    Thinking,
}

#[derive(Debug)]
struct OpenCall {
    index: u64,
    id: ToolCallId,
    name: ToolName,
    /// The arguments so far, where they have to be translated as a whole.
    text: Option<String>,
}

/// A piece of a call's arguments.
pub(super) struct CallPiece<'a> {
    pub(super) id: &'a ToolCallId,
    pub(super) name: &'a ToolName,
    pub(super) text: &'a str,
}

impl Partial {
    /// An answer begins.
    pub(super) fn begin(message_id: &str, model: &str) -> (Self, Value) {
        let event = json!({
            "type": "message_start",
            "message": {
                "id": message_id, "type": "message", "role": "assistant", "model": model, "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": usage_json(&Usage::default()),
            },
        });
        (Self { blocks: 0, open: None, calls: Vec::new() }, event)
    }

    /// More text or thinking.
    pub(super) fn prose(&mut self, prose: Prose, text: &str, dir: &Path) -> Vec<Value> {
        let mut events = self.close_calls(dir);
        let index = match self.open {
            Some((index, open)) if open == prose => index,
            Some(_) | None => {
                events.extend(self.close_prose());
                let index = self.take_index();
                self.open = Some((index, prose));
                let block = match prose {
                    Prose::Text => json!({ "type": "text", "text": "" }),
                    Prose::Thinking => json!({ "type": "thinking", "thinking": "", "signature": "" }),
                };
                events.push(start(index, &block));
                index
            }
        };
        let delta = match prose {
            Prose::Text => json!({ "type": "text_delta", "text": text }),
            Prose::Thinking => json!({ "type": "thinking_delta", "thinking": text }),
        };
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events
    }

    /// More of a call's arguments. For tools that Claude Code names differently, they come complete at the end.
    pub(super) fn call(&mut self, piece: &CallPiece<'_>) -> Vec<Value> {
        let mut events = self.close_prose();
        let place = match self.calls.iter().position(|call| call.id == *piece.id) {
            Some(place) => place,
            None => {
                let index = self.take_index();
                let name = claude_tool_name(piece.name.as_str());
                let id = wire_call_id(piece.id.as_str());
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                events.push(start(index, &block));
                let text = (name != piece.name.as_str()).then(String::new);
                self.calls.push(OpenCall { index, id: piece.id.clone(), name: piece.name.clone(), text });
                self.calls.len().saturating_sub(1)
            }
        };
        match self.calls.get_mut(place) {
            Some(OpenCall { text: Some(text), .. }) => text.push_str(piece.text),
            Some(OpenCall { index, text: None, .. }) if !piece.text.is_empty() => {
                events.push(input_delta(*index, piece.text));
            }
            Some(_) | None => {}
        }
        events
    }

    /// The answer is complete. Sends the parts that were not streamed.
    pub(super) fn whole(&mut self, answer: &AssistantMessage, dir: &Path) -> Vec<Value> {
        let mut events = Vec::new();
        if self.blocks == 0 {
            for content in &answer.content {
                events.extend(self.content(content, dir));
            }
        }
        events.extend(self.close_prose());
        events.extend(self.close_calls(dir));
        events
    }

    /// The answer ends.
    pub(super) fn end(answer: &AssistantMessage) -> [Value; 2] {
        let reason = stop_reason_text(answer.stop_reason);
        [
            json!({
                "type": "message_delta",
                "delta": { "stop_reason": reason, "stop_sequence": null },
                "usage": usage_json(&answer.usage),
            }),
            json!({ "type": "message_stop" }),
        ]
    }

    fn content(&mut self, content: &Content, dir: &Path) -> Vec<Value> {
        match content {
            Content::Text { text } => self.prose(Prose::Text, text, dir),
            Content::Thinking { thinking, .. } if thinking.is_empty() => Vec::new(),
            Content::Thinking { thinking, .. } => self.prose(Prose::Thinking, thinking, dir),
            Content::ToolCall(call) => {
                let text = call.arguments.to_string();
                self.call(&CallPiece { id: &call.id, name: &call.name, text: &text })
            }
            Content::Image { .. } => Vec::new(),
        }
    }

    fn take_index(&mut self) -> u64 {
        let index = self.blocks;
        self.blocks = self.blocks.saturating_add(1);
        index
    }

    fn close_prose(&mut self) -> Vec<Value> {
        self.open.take().map(|(index, _)| stop(index)).into_iter().collect()
    }

    fn close_calls(&mut self, dir: &Path) -> Vec<Value> {
        let mut events = Vec::new();
        for call in std::mem::take(&mut self.calls) {
            if let Some(text) = &call.text
                && !text.is_empty()
            {
                events.push(input_delta(call.index, &translated(&call, text, dir)));
            }
            events.push(stop(call.index));
        }
        events
    }
}

/// The arguments of a call in Claude Code's form; unchanged if they cannot be parsed.
fn translated(call: &OpenCall, text: &str, dir: &Path) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(arguments @ Value::Object(_)) => {
            let (id, name) = (call.id.clone(), call.name.clone());
            let call =
                ToolCall { id, name, arguments: Arc::new(arguments), malformed: None, key_order: None };
            claude_call(&call, dir).tool_input.to_string()
        }
        Ok(_) | Err(_) => text.to_owned(),
    }
}

fn start(index: u64, block: &Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn input_delta(index: u64, text: &str) -> Value {
    let delta = json!({ "type": "input_json_delta", "partial_json": text });
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn stop(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}
