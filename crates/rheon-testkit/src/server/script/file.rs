//! Scripts as TOML files.
//!
//! The format by example:
//!
//! ```toml
#![doc = include_str!("example.toml")]
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use rheon_providers::wire::WireKind;
use rheon_types::Usage;
use serde::Deserialize;

use super::replies::Script;
use crate::server::condition::ReplyCondition;
use crate::server::fault::{Fault, Tick};
use crate::server::refusal::ServiceError;
use crate::server::reply::{
    BedrockFraming, FakeReply, ReasoningField, ReplyBlock, ReplyCount, ReplyStop, ReplyStyle, SseStyle,
    UsageReport,
};
use crate::server::rules::{ChatIds, RequestRules, RequestStrictness};

/// The default signature: base64, as most services use.
const SIGNATURE: &str = "c2lnbmF0dXJl";

/// A script that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {name}: line {line}: {message}")]
pub struct ScriptError {
    name: String,
    line: usize,
    message: String,
}

impl Script {
    /// The TOML format by example.
    pub const EXAMPLE: &str = include_str!("example.toml");

    /// Parses a script from TOML (see [`EXAMPLE`](Self::EXAMPLE)); `name` is the file name for errors.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ScriptError> {
        let file: FileScript = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let message = error.message().lines().next().unwrap_or_default().to_owned();
            ScriptError { name: name.to_owned(), line: before.matches('\n').count() + 1, message }
        })?;
        let otherwise = Self::default();
        Ok(Self {
            replies: file.reply.into_iter().map(FakeReply::from).collect(),
            default: file.default.map_or(otherwise.default, FakeReply::from),
            rules: RequestRules {
                requests: file.requests.unwrap_or(otherwise.rules.requests),
                chat_ids: file.chat_ids.unwrap_or(otherwise.rules.chat_ids),
            },
            context_tokens: file.context_tokens.unwrap_or(otherwise.context_tokens),
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileScript {
    #[serde(default)]
    reply: Vec<FileReply>,
    default: Option<FileReply>,
    requests: Option<RequestStrictness>,
    chat_ids: Option<ChatIds>,
    context_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileReply {
    when: FileWhen,
    times: Option<usize>,
    thinking: Option<String>,
    signature: Option<String>,
    redacted: Option<String>,
    text: Option<String>,
    calls: Vec<FileCall>,
    any_calls: usize,
    stop: Option<String>,
    usage: Option<FileUsage>,
    style: FileStyle,
    faults: Vec<FileFault>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileWhen {
    wire: Option<WireKind>,
    contains: Option<String>,
    request: Option<usize>,
    tool_result: Option<bool>,
    tools: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCall {
    name: String,
    id: Option<String>,
    arguments: Option<toml::Table>,
    raw: Option<String>,
    signature: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total: u64,
    thinking: u64,
    every: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileStyle {
    delta_chars: Option<usize>,
    reasoning: ReasoningField,
    bedrock: BedrockFraming,
    sse: SseStyle,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum FileFault {
    Status {
        code: u16,
        body: Option<String>,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    Refuse {
        error: ServiceError,
    },
    Redirect {
        address: String,
    },
    Hangup {},
    NeverAnswer {},
    StallBeforeHeaders {},
    StallAfterEvent {
        event: usize,
    },
    StallAtByte {
        byte: usize,
    },
    CutAfterEvent {
        event: usize,
    },
    CutAtByte {
        byte: usize,
    },
    EndAfterEvent {
        event: usize,
    },
    GarbageAfterEvent {
        event: usize,
    },
    ErrorAfterEvent {
        event: usize,
        error: ServiceError,
    },
    HugeEvent {
        event: usize,
        bytes: usize,
    },
    Endless {
        event: usize,
    },
    ContentType {
        value: String,
    },
    Html {},
    ErrorBody {
        error: ServiceError,
    },
    Pieces {
        bytes: usize,
    },
    Drip {
        every_ms: u64,
    },
    Gzip {},
    GzipBomb {
        bytes: usize,
    },
}

impl From<FileReply> for FakeReply {
    fn from(file: FileReply) -> Self {
        let style = ReplyStyle {
            delta_chars: file.style.delta_chars.unwrap_or(ReplyStyle::default().delta_chars),
            bedrock: file.style.bedrock,
            reasoning: file.style.reasoning,
            sse: file.style.sse,
        };
        Self {
            when: file.when.into(),
            times: match file.times {
                None | Some(1) => ReplyCount::Once,
                Some(0) => ReplyCount::Always,
                Some(times) => ReplyCount::Exactly(times),
            },
            blocks: blocks(
                [file.thinking, file.signature, file.redacted, file.text],
                file.calls,
                file.any_calls,
            ),
            usage: file.usage.map_or_else(UsageReport::default, UsageReport::from),
            stop: file.stop.map_or(ReplyStop::Natural, stop),
            style,
            faults: file.faults.into_iter().map(Fault::from).collect(),
        }
    }
}

/// The blocks in the order in which models write them: thinking, text, calls.
fn blocks(texts: [Option<String>; 4], calls: Vec<FileCall>, any_calls: usize) -> Vec<ReplyBlock> {
    let [thinking, signature, redacted, text] = texts;
    let signature = signature.unwrap_or_else(|| SIGNATURE.to_owned());
    let thinking = thinking.map(|text| ReplyBlock::Thinking { text, signature: Some(signature) });
    let redacted = redacted.map(|data| ReplyBlock::Redacted { data });
    let text = text.map(|text| ReplyBlock::Text { text, signature: None });
    let calls = calls.into_iter().map(|call| ReplyBlock::Call {
        id: call.id,
        name: call.name,
        arguments: call.raw.unwrap_or_else(|| arguments(call.arguments.unwrap_or_default())),
        signature: call.signature,
    });
    let any = std::iter::repeat_n(ReplyBlock::AnyCall, any_calls);
    thinking.into_iter().chain(redacted).chain(text).chain(calls).chain(any).collect()
}

fn arguments(table: toml::Table) -> String {
    // Every TOML table can be written as JSON; dates become strings.
    serde_json::to_string(&table).unwrap_or_else(|_| "{}".to_owned())
}

fn stop(word: String) -> ReplyStop {
    match word.as_str() {
        "natural" => ReplyStop::Natural,
        "end" => ReplyStop::End,
        "tool_use" => ReplyStop::ToolUse,
        "length" => ReplyStop::Length,
        "refusal" => ReplyStop::Refusal,
        _ => ReplyStop::Word(word),
    }
}

impl From<FileWhen> for ReplyCondition {
    fn from(file: FileWhen) -> Self {
        Self {
            wire: file.wire,
            contains: file.contains,
            request: file.request,
            tool_result: file.tool_result,
            tools: file.tools,
        }
    }
}

impl From<FileUsage> for UsageReport {
    fn from(file: FileUsage) -> Self {
        match file.every {
            Some(text) if text == "absent" => return Self::Absent,
            Some(text) => return Self::Every(text),
            None => {}
        }
        let usage = Usage {
            input: file.input,
            output: file.output,
            cache_read: file.cache_read,
            cache_write: file.cache_write,
            total_tokens: file.total,
        };
        Self::Counts { usage, thinking: file.thinking }
    }
}

impl From<FileFault> for Fault {
    fn from(file: FileFault) -> Self {
        match file {
            FileFault::Status { code, body, headers } => {
                Self::Status { code, body, headers: headers.into_iter().collect() }
            }
            FileFault::Refuse { error } => Self::Refuse(error),
            FileFault::Redirect { address } => Self::Redirect(address),
            FileFault::Hangup {} => Self::Hangup,
            FileFault::NeverAnswer {} => Self::NeverAnswer,
            FileFault::StallBeforeHeaders {} => Self::StallBeforeHeaders,
            FileFault::StallAfterEvent { event } => Self::StallAfterEvent(event),
            FileFault::StallAtByte { byte } => Self::StallAtByte(byte),
            FileFault::CutAfterEvent { event } => Self::CutAfterEvent(event),
            FileFault::CutAtByte { byte } => Self::CutAtByte(byte),
            FileFault::EndAfterEvent { event } => Self::EndAfterEvent(event),
            FileFault::GarbageAfterEvent { event } => Self::GarbageAfterEvent(event),
            FileFault::ErrorAfterEvent { event, error } => Self::ErrorAfterEvent { event, error },
            FileFault::HugeEvent { event, bytes } => Self::HugeEvent { event, bytes },
            FileFault::Endless { event } => Self::Endless { event },
            FileFault::ContentType { value } => Self::ContentType(value),
            FileFault::Html {} => Self::Html,
            FileFault::ErrorBody { error } => Self::ErrorBody(error),
            FileFault::Pieces { bytes } => Self::Pieces(bytes),
            FileFault::Drip { every_ms } => Self::Drip(Tick::Every(Duration::from_millis(every_ms))),
            FileFault::Gzip {} => Self::Gzip,
            FileFault::GzipBomb { bytes } => Self::GzipBomb(bytes),
        }
    }
}
