//! Anthropic Messages: the blocks of one message.

use rheon_types::{OrderedJson, SignatureKind};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::history::{Block, PreparedResult, ResultBlock, Role};
use crate::wire::claude::{self, can_send, is_blank};

/// Marks the end of the cached part of the prompt.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

/// The mark, if the position has one.
pub(super) fn mark(marked: bool) -> Option<CacheControl> {
    marked.then_some(CacheControl { kind: "ephemeral" })
}

/// The content of one message.
pub(super) struct Content<'a> {
    pub(super) role: Role,
    pub(super) blocks: &'a [Block<'a>],
    /// The number of blocks before the cache mark.
    pub(super) marked: Option<usize>,
    /// Whether the model continues this message; it must not end with whitespace.
    pub(super) open: bool,
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let last = self.blocks.iter().rposition(can_send);
        let filler = claude::filler(self.role, last.and_then(|last| self.blocks.get(last)));
        let marked = self.marked.and_then(|end| self.blocks.iter().take(end).rposition(can_send));
        let mut content = serializer.serialize_seq(None)?;
        for (index, block) in self.blocks.iter().enumerate().filter(|(_, block)| can_send(block)) {
            let last = last == Some(index) && filler.is_none();
            let cache_control = mark(marked == Some(index) && filler.is_none());
            content.serialize_element(&wire_block(block, cache_control, self.open && last))?;
        }
        if let Some(text) = filler {
            content
                .serialize_element(&WireBlock::Text { text, cache_control: mark(self.marked.is_some()) })?;
        }
        content.end()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireBlock<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: OrderedJson<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: ResultContent<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// `open` is the last text of a message that the model continues.
fn wire_block<'a>(block: &'a Block<'a>, cache_control: Option<CacheControl>, open: bool) -> WireBlock<'a> {
    match block {
        Block::Text(text) => {
            WireBlock::Text { text: if open { text.trim_end() } else { text }, cache_control }
        }
        Block::Image { data, mime_type } => image(data, mime_type, cache_control),
        Block::Thinking { text, signature } => match signature {
            Some(signature) if signature.kind == SignatureKind::Redacted => {
                WireBlock::RedactedThinking { data: &signature.data }
            }
            Some(signature) => WireBlock::Thinking { thinking: text, signature: &signature.data },
            None => WireBlock::Thinking { thinking: text, signature: "" },
        },
        Block::Call { id, name, arguments } => WireBlock::ToolUse { id, name, input: *arguments },
        Block::Result(result) => WireBlock::ToolResult {
            tool_use_id: &result.id,
            content: ResultContent(result),
            is_error: result.is_error,
            cache_control,
        },
    }
}

fn image<'a>(data: &'a str, media_type: &'a str, cache_control: Option<CacheControl>) -> WireBlock<'a> {
    WireBlock::Image { source: Source { kind: "base64", media_type, data }, cache_control }
}

/// The content of a tool result.
struct ResultContent<'a>(&'a PreparedResult<'a>);

impl Serialize for ResultContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut content = serializer.serialize_seq(None)?;
        let mut empty = true;
        for block in self.0.blocks() {
            let block = match block {
                ResultBlock::Text(text) if is_blank(text) => continue,
                ResultBlock::Text(text) => WireBlock::Text { text, cache_control: None },
                ResultBlock::Image { data, mime_type } => image(data, mime_type, None),
            };
            content.serialize_element(&block)?;
            empty = false;
        }
        if empty {
            let text = claude::EMPTY_RESULT;
            content.serialize_element(&WireBlock::Text { text, cache_control: None })?;
        }
        content.end()
    }
}
