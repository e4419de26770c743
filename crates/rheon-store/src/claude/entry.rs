//! `Entry`: the parts of a transcript line that the conversation needs.

use rheon_types::{Content, Timestamp, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::blocks;
use super::extras::{AnswerExtras, BlockExtras, Extras};
use super::timestamp;

/// An entry of the chain.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) uuid: String,
    pub(super) parent: Option<String>,
    pub(super) is_sidechain: bool,
    /// Whether it is one of the kinds that form the conversation. Others may connect entries, but never end it.
    pub(super) is_chained: bool,
    /// The entry that it was copied from, by a fork.
    pub(super) copied_from: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) kind: EntryKind,
    /// The kinds of blocks that we do not support.
    pub(super) unread_blocks: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) enum EntryKind {
    /// Text, images and tool results with the user's role.
    User(Box<UserEntry>),
    /// One or more blocks of an answer.
    Answer(Box<AnswerEntry>),
    /// A compaction, with the messages it preserved.
    Boundary { preserved: Vec<String> },
    /// Not for our models; only connects the chain.
    Link,
}

#[derive(Debug, Clone, Default)]
pub(super) struct UserEntry {
    pub(super) content: Vec<Content>,
    pub(super) results: Vec<ResultBlock>,
    /// Written by the program, not by the user.
    pub(super) is_meta: bool,
    pub(super) is_summary: bool,
    /// The entry of the call, if it is not the parent.
    pub(super) source: Option<String>,
    pub(super) extras: Extras,
}

#[derive(Debug, Clone)]
pub(super) struct ResultBlock {
    pub(super) call_id: String,
    pub(super) content: Vec<Content>,
    pub(super) is_error: bool,
}

/// A piece of an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct AnswerEntry {
    pub(super) message_id: Option<String>,
    pub(super) model: String,
    pub(super) content: Vec<Content>,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Usage,
    /// An error of the service, as shown to the user.
    pub(super) is_api_error: bool,
    pub(super) extras: Extras,
}

impl Entry {
    /// Parses an entry of the chain.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let uuid = text(value, "uuid")?.to_owned();
        let mut unread_blocks = Vec::new();
        let name = text(value, "type")?;
        let kind = match name {
            "user" => EntryKind::User(Box::new(read_user(value, &mut unread_blocks)?)),
            "assistant" => EntryKind::Answer(Box::new(read_answer(value, &mut unread_blocks)?)),
            "system" if text(value, "subtype") == Some("compact_boundary") => {
                EntryKind::Boundary { preserved: preserved(value) }
            }
            "attachment" => read_attachment(value, &mut unread_blocks),
            _ => EntryKind::Link,
        };
        Some(Self {
            uuid,
            parent: text(value, "parentUuid").map(str::to_owned),
            is_sidechain: flag(value, "isSidechain"),
            is_chained: matches!(name, "user" | "assistant" | "system" | "attachment"),
            copied_from: value
                .get("forkedFrom")
                .and_then(|from| text(from, "messageUuid"))
                .map(str::to_owned),
            at: text(value, "timestamp").and_then(timestamp::parse),
            kind,
            unread_blocks,
        })
    }

    /// Whether models see it.
    pub(super) fn is_for_model(&self) -> bool {
        matches!(self.kind, EntryKind::User(_) | EntryKind::Answer(_))
    }
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn kind_of(block: &Value) -> String {
    text(block, "type").unwrap_or("block without a type").chars().take(60).collect()
}

/// Content is a string or a list of blocks.
fn read_content(content: &Value, unread: &mut Vec<String>) -> Vec<Content> {
    match content {
        Value::String(text) => vec![Content::text(text)],
        Value::Array(blocks) => {
            let read = |block: &Value| {
                let content = blocks::read_input_block(block);
                if content.is_none() {
                    unread.push(kind_of(block));
                }
                content
            };
            blocks.iter().filter_map(read).collect()
        }
        _ => Vec::new(),
    }
}

fn read_user(value: &Value, unread: &mut Vec<String>) -> Option<UserEntry> {
    let content = value.get("message")?.get("content")?;
    let is_result = |block: &&Value| text(block, "type") == Some("tool_result");
    let mut entry = UserEntry {
        is_meta: flag(value, "isMeta"),
        is_summary: flag(value, "isCompactSummary"),
        source: text(value, "sourceToolAssistantUUID").map(str::to_owned),
        extras: Extras::of(value),
        ..UserEntry::default()
    };
    if let Value::Array(blocks) = content {
        for block in blocks.iter().filter(is_result) {
            let Some(call_id) = text(block, "tool_use_id") else {
                unread.push(kind_of(block));
                continue;
            };
            entry.results.push(ResultBlock {
                call_id: call_id.to_owned(),
                content: block
                    .get("content")
                    .map(|content| read_content(content, unread))
                    .unwrap_or_default(),
                is_error: flag(block, "is_error"),
            });
        }
        let rest = blocks.iter().filter(|block| !is_result(block)).cloned().collect();
        entry.content = read_content(&Value::Array(rest), unread);
    } else {
        entry.content = read_content(content, unread);
    }
    apply_content_override(&mut entry);
    Some(entry)
}

/// If our own field has the blocks of the message, they replace its content.
fn apply_content_override(entry: &mut UserEntry) {
    if let Some(content) = entry.extras.content.take() {
        match entry.results.first_mut() {
            Some(result) => result.content = content,
            None => entry.content = content,
        }
    }
    if let Some(id) = entry.extras.block.as_ref().and_then(|block| block.call_id.clone())
        && let Some(result) = entry.results.first_mut()
    {
        result.call_id = id;
    }
}

fn read_answer(value: &Value, unread: &mut Vec<String>) -> Option<AnswerEntry> {
    let message = value.get("message")?;
    let extras = Extras::of(value);
    let named = extras.answer.as_ref().and_then(|answer: &AnswerExtras| answer.model.clone());
    let model = named.or_else(|| text(message, "model").map(str::to_owned)).unwrap_or_default();
    let mut content = extras.before.clone();
    match (&extras.content, message.get("content")?) {
        (Some(whole), _) => content.extend(whole.iter().cloned()),
        (None, Value::String(text)) => content.push(Content::text(text)),
        (None, Value::Array(blocks)) => {
            for block in blocks {
                let block_extras: Option<BlockExtras> = extras.block.clone();
                match blocks::read_answer_block(block, &model, block_extras) {
                    Some(block) => content.push(block),
                    None => unread.push(kind_of(block)),
                }
            }
        }
        (None, _) => return None,
    }
    content.extend(extras.after.iter().cloned());
    Some(AnswerEntry {
        message_id: text(message, "id").map(str::to_owned),
        model,
        content,
        stop_reason: text(message, "stop_reason").map(str::to_owned),
        usage: message.get("usage").map(read_usage).unwrap_or_default(),
        is_api_error: flag(value, "isApiErrorMessage"),
        extras,
    })
}

fn read_usage(usage: &Value) -> Usage {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        total_tokens: 0,
    }
}

/// Attachments describe Claude Code's own tools and environment to its model, which ours does not have. Only what
/// the user added is used: messages sent during a turn, and files.
fn read_attachment(value: &Value, unread: &mut Vec<String>) -> EntryKind {
    let attachment = value.get("attachment").unwrap_or(&Value::Null);
    let rendered = value.get("rendered").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (content, is_meta) = match (text(attachment, "type"), attachment.get("prompt")) {
        (Some("queued_command"), Some(prompt)) => {
            // Other modes hold messages of the program.
            (
                read_content(prompt, unread),
                text(attachment, "commandMode").is_some_and(|mode| mode != "prompt"),
            )
        }
        (Some("queued_command" | "file"), _) => {
            let parts = rendered.iter().filter_map(|part| part.get("content"));
            (parts.flat_map(|content| read_content(content, unread)).collect(), true)
        }
        (Some(_) | None, _) => return EntryKind::Link,
    };
    if content.is_empty() {
        return EntryKind::Link;
    }
    EntryKind::User(Box::new(UserEntry { content, is_meta, ..UserEntry::default() }))
}

/// The messages that a compaction preserved.
fn preserved(value: &Value) -> Vec<String> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Metadata {
        #[serde(rename = "preservedMessages")]
        messages: Preserved,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Preserved {
        uuids: Vec<String>,
        #[serde(rename = "allUuids")]
        all: Vec<String>,
    }
    let metadata = value
        .get("compactMetadata")
        .and_then(|metadata| Metadata::deserialize(metadata).ok())
        .unwrap_or_default();
    if metadata.messages.all.is_empty() { metadata.messages.uuids } else { metadata.messages.all }
}
