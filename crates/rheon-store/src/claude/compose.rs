//! Composes transcript lines from our messages. Pure except for the random uuids.

use std::collections::HashMap;

use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentMessage, AssistantMessage, Author, Content, Message, SessionId, StopReason, Timestamp,
    ToolResultMessage, TurnId, Usage, UserMessage,
};
use serde_json::{Map, Value, json};

use super::blocks::{write_answer_block, write_input_block};
use super::extras::{AnswerExtras, BlockExtras, Extras, FIELD};
use super::ids::{transcript_id, wire_call_id};
use super::timestamp;

/// The format version we write.
pub const FORMAT_VERSION: &str = "2.1.325";

/// The `entrypoint` of our lines.
pub(super) const ENTRYPOINT: &str = "rheon";

/// The model name of entries that are not sent to a model.
const NO_MODEL: &str = "<synthetic>";

/// The text of an entry without content, because services reject empty messages.
const NO_CONTENT: &str = "(no content)";

/// The fields that every entry of a session repeats.
#[derive(Debug, Clone)]
pub(super) struct Envelope {
    pub(super) session_id: String,
    pub(super) cwd: String,
    pub(super) git_branch: String,
}

/// Where the next entry is attached.
#[derive(Debug, Clone, Default)]
pub(super) struct Position {
    /// The parent of the next entry.
    pub(super) tip: Option<String>,
    /// The entries of tool calls without a result, by call id.
    pub(super) calls: HashMap<String, String>,
    /// The entry of the last user message, if known.
    pub(super) last_prompt: Option<String>,
}

/// What a compaction summarized and preserved.
pub(super) struct Compaction<'a> {
    pub(super) trigger: CompactionTrigger,
    pub(super) tokens_before: u64,
    pub(super) tokens_after: u64,
    pub(super) summary: Option<&'a str>,
    pub(super) preserved: Vec<String>,
    pub(super) at: Timestamp,
}

/// Composes a group of lines. They are dropped if they cannot be written.
pub(super) struct Composer<'a> {
    envelope: &'a Envelope,
    /// The uuids of the entries, in order.
    uuids: std::vec::IntoIter<String>,
    /// Where the entry after the composed ones is attached.
    pub(super) position: Position,
    pub(super) lines: Vec<Value>,
}

impl<'a> Composer<'a> {
    pub(super) fn new(envelope: &'a Envelope, uuids: Vec<String>, position: Position) -> Self {
        Self { envelope, uuids: uuids.into_iter(), position, lines: Vec::new() }
    }

    /// The uuid of the next entry. A message is given as many as it has entries, unless another program split it otherwise.
    fn uuid(&mut self) -> String {
        self.uuids.next().unwrap_or_else(|| {
            let tip = self.position.tip.as_deref().unwrap_or_default();
            transcript_id(&SessionId::from(format!("{tip}/next")))
        })
    }

    /// Adds the lines of a message; none for a message that models never see.
    pub(super) fn message(&mut self, message: &AgentMessage) {
        let AgentMessage::Llm(llm) = message else { return };
        let turn_id = llm.turn_id.as_ref();
        match &llm.message {
            Message::User(user) => self.user(user, turn_id),
            Message::Assistant(answer) => self.answer(answer, turn_id),
            Message::ToolResult(result) => self.result(result, turn_id),
        }
    }

    /// Adds a boundary that ends the earlier conversation, and its summary.
    pub(super) fn compaction(&mut self, compaction: &Compaction<'_>) {
        let boundary = self.uuid();
        let summary = compaction.summary.map(|text| (self.uuid(), text));
        let anchor = summary.as_ref().map_or(&boundary, |(uuid, _)| uuid);
        let mut metadata = json!({
            "trigger": match compaction.trigger {
                CompactionTrigger::Manual => "manual",
                CompactionTrigger::Auto | CompactionTrigger::Overflow => "auto",
            },
            "preTokens": compaction.tokens_before,
            "postTokens": compaction.tokens_after,
        });
        if let (Some(head), Some(tail), Some(fields)) =
            (compaction.preserved.first(), compaction.preserved.last(), metadata.as_object_mut())
        {
            let segment = json!({"headUuid": head, "anchorUuid": anchor, "tailUuid": tail});
            let preserved = &compaction.preserved;
            let messages = json!({"anchorUuid": anchor, "uuids": preserved, "allUuids": preserved});
            fields.insert("preservedSegment".to_owned(), segment);
            fields.insert("preservedMessages".to_owned(), messages);
        }
        let old_tip = self.position.tip.take();
        self.position.last_prompt = None;
        let fields = json!({
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "level": "info",
            "isMeta": false,
            "logicalParentUuid": old_tip,
            "compactMetadata": metadata,
        });
        self.entry(Head { kind: "system", uuid: boundary, parent: None, at: compaction.at }, fields);
        if let Some((uuid, text)) = summary {
            let parent = self.position.tip.clone();
            let fields = json!({
                "message": {"role": "user", "content": text},
                "isCompactSummary": true,
                "isVisibleInTranscriptOnly": true,
            });
            self.entry(Head { kind: "user", uuid, parent, at: compaction.at }, fields);
        }
    }

    /// Adds a note for people that is not sent to a model.
    pub(super) fn note(&mut self, text: &str, at: Timestamp) {
        let fields = json!({"subtype": "informational", "content": text, "level": "info", "isMeta": false});
        let (uuid, parent) = (self.uuid(), self.position.tip.clone());
        self.entry(Head { kind: "system", uuid, parent, at }, fields);
    }

    fn user(&mut self, user: &UserMessage, turn_id: Option<&TurnId>) {
        let (content, whole) = content_json(&user.content);
        let content = if content == json!([]) { json!(NO_CONTENT) } else { content };
        let extras = Extras { turn_id: turn_id.cloned(), content: whole, ..Extras::default() };
        let mut fields = json!({"message": {"role": "user", "content": content}});
        if user.author == Author::Runtime {
            set(&mut fields, "isMeta", json!(true));
        }
        set_extras(&mut fields, &extras);
        let (uuid, parent) = (self.uuid(), self.position.tip.clone());
        if user.author == Author::User {
            self.position.last_prompt = Some(uuid.clone());
        }
        self.entry(Head { kind: "user", uuid, parent, at: user.timestamp }, fields);
    }

    fn result(&mut self, result: &ToolResultMessage, turn_id: Option<&TurnId>) {
        let (content, whole) = content_json(&result.content);
        let own_id = result.tool_call_id.as_str();
        let id = wire_call_id(own_id);
        let block = BlockExtras {
            call_id: (id != own_id).then(|| own_id.to_owned()),
            tool_name: Some(result.tool_name.to_string()),
            ..BlockExtras::default()
        };
        let extras =
            Extras { turn_id: turn_id.cloned(), content: whole, block: Some(block), ..Extras::default() };
        let call = self.position.calls.remove(own_id);
        let mut fields = json!({
            "message": {"role": "user", "content": [
                {"tool_use_id": id, "type": "tool_result", "content": content, "is_error": result.is_error},
            ]},
        });
        if let Some(call) = &call {
            set(&mut fields, "sourceToolAssistantUUID", json!(call));
        }
        set_extras(&mut fields, &extras);
        // Parallel calls are recognized by results that are attached to the call and not to the previous result.
        let parent = call.or_else(|| self.position.tip.clone());
        let uuid = self.uuid();
        self.entry(Head { kind: "user", uuid, parent, at: result.timestamp }, fields);
    }

    /// One entry per block. Blocks that a Claude model rejects are stored with a neighboring entry.
    fn answer(&mut self, answer: &AssistantMessage, turn_id: Option<&TurnId>) {
        let mut pieces: Vec<(Value, Extras, Option<String>)> = Vec::new();
        let mut hidden = Vec::new();
        for content in &answer.content {
            let Some((block, left_out)) = write_answer_block(content, &answer.model) else {
                hidden.push(content.clone());
                continue;
            };
            let call = match content {
                Content::ToolCall(call) => Some(call.id.to_string()),
                Content::Text { .. } | Content::Image { .. } | Content::Thinking { .. } => None,
            };
            let block_extras = (left_out != BlockExtras::default()).then_some(left_out);
            let before = std::mem::take(&mut hidden);
            pieces.push((block, Extras { before, block: block_extras, ..Extras::default() }, call));
        }
        let first = self.uuids.as_slice().first().map(|uuid| uuid.replace('-', ""));
        let message_id = format!("msg_{}", first.unwrap_or_default());
        match pieces.last_mut() {
            Some((_, last, _)) if answer.stop_reason != StopReason::Error => last.after = hidden,
            Some(_) | None => return self.unsent_answer(answer, &message_id, turn_id),
        }
        for (index, (block, mut extras, call)) in pieces.into_iter().enumerate() {
            if index == 0 {
                extras.turn_id = turn_id.cloned();
                extras.answer = Some(answer_extras(answer, None));
            }
            let mut fields = json!({
                "message": message(&message_id, &answer.model, block, answer),
                "apiBlockIndex": index,
                "madeBy": "model",
            });
            set_extras(&mut fields, &extras);
            let uuid = self.uuid();
            if let Some(call) = call {
                self.position.calls.insert(call, uuid.clone());
            }
            let parent = self.position.tip.clone();
            self.entry(Head { kind: "assistant", uuid, parent, at: answer.timestamp }, fields);
        }
    }

    /// An answer that failed or is empty: shown to the user, not sent to a model.
    fn unsent_answer(&mut self, answer: &AssistantMessage, message_id: &str, turn_id: Option<&TurnId>) {
        let text = answer.error_message.as_deref().filter(|text| !text.is_empty()).unwrap_or(NO_CONTENT);
        let extras = Extras {
            turn_id: turn_id.cloned(),
            content: Some(answer.content.clone()),
            answer: Some(answer_extras(answer, Some(answer.model.clone()))),
            ..Extras::default()
        };
        let mut fields = json!({
            "message": message(message_id, NO_MODEL, json!({"type": "text", "text": text}), answer),
            "isApiErrorMessage": true,
        });
        set_extras(&mut fields, &extras);
        let (uuid, parent) = (self.uuid(), self.position.tip.clone());
        self.entry(Head { kind: "assistant", uuid, parent, at: answer.timestamp }, fields);
    }

    fn entry(&mut self, head: Head, fields: Value) {
        let mut line = match fields {
            Value::Object(fields) => fields,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new()
            }
        };
        let envelope = self.envelope;
        self.position.tip = Some(head.uuid.clone());
        line.extend(
            [
                ("parentUuid", json!(head.parent)),
                ("isSidechain", json!(false)),
                ("type", json!(head.kind)),
                ("uuid", Value::String(head.uuid)),
                ("timestamp", Value::String(timestamp::format(head.at))),
                ("userType", json!("external")),
                ("entrypoint", json!(ENTRYPOINT)),
                ("cwd", json!(envelope.cwd)),
                ("sessionId", json!(envelope.session_id)),
                ("version", json!(FORMAT_VERSION)),
                ("gitBranch", json!(envelope.git_branch)),
            ]
            .map(|(key, value)| (key.to_owned(), value)),
        );
        self.lines.push(Value::Object(line));
    }
}

/// The fields that differ between entries.
struct Head {
    kind: &'static str,
    uuid: String,
    parent: Option<String>,
    at: Timestamp,
}

/// The line that deletes entries.
pub(super) fn tombstone(envelope: &Envelope, uuids: &[String], at: Timestamp) -> Value {
    json!({
        "type": "tombstone",
        "tombstoneUuids": uuids,
        "timestamp": timestamp::format(at),
        "sessionId": envelope.session_id,
    })
}

/// Content in the transcript format: a single text block as a string, anything else as a list. Blocks that the list
/// cannot represent are returned as well.
fn content_json(content: &[Content]) -> (Value, Option<Vec<Content>>) {
    if let [Content::Text { text }] = content {
        return (json!(text), None);
    }
    let blocks: Vec<Value> = content.iter().filter_map(write_input_block).collect();
    let says_all = !blocks.is_empty() && blocks.len() == content.len();
    (Value::Array(blocks), (!says_all).then(|| content.to_vec()))
}

fn message(id: &str, model: &str, block: Value, answer: &AssistantMessage) -> Value {
    json!({
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": stop_reason_text(answer.stop_reason),
        "stop_sequence": null,
        "usage": usage_json(&answer.usage),
    })
}

/// The stop reason in Anthropic's words; `None` if the model did not stop by itself.
pub fn stop_reason_text(reason: StopReason) -> Option<&'static str> {
    match reason {
        StopReason::Stop => Some("end_turn"),
        StopReason::Length => Some("max_tokens"),
        StopReason::ToolUse => Some("tool_use"),
        StopReason::Error | StopReason::Aborted => None,
    }
}

/// Token usage in the form of Anthropic's API.
pub fn usage_json(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    })
}

fn answer_extras(answer: &AssistantMessage, model: Option<String>) -> AnswerExtras {
    AnswerExtras {
        provider: answer.provider.clone(),
        model,
        stop_reason: answer.stop_reason,
        error_message: answer.error_message.clone(),
        total_tokens: answer.usage.total_tokens,
    }
}

fn set(fields: &mut Value, key: &str, value: Value) {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

fn set_extras(fields: &mut Value, extras: &Extras) {
    let value = serde_json::to_value(extras).unwrap_or_default();
    if value.as_object().is_some_and(|extras| !extras.is_empty()) {
        set(fields, FIELD, value);
    }
}
