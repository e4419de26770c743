//! Bedrock ConverseStream: the blocks of one message.

use rheon_types::{OrderedJson, SignatureKind};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::history::{Block, PreparedResult, ResultBlock, Role};
use crate::wire::claude::{self, can_send, is_blank};

/// Marks the end of the cached part of the prompt.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct CachePoint {
    #[serde(rename = "type")]
    kind: &'static str,
}

/// The default cache point.
pub(super) fn cache_point() -> CachePoint {
    CachePoint { kind: "default" }
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
        // After a filler, everything stays in the next request.
        let marked = self.marked.and_then(|end| self.blocks.iter().take(end).rposition(can_send));
        let marked = marked.filter(|_| filler.is_none());
        let mut content = serializer.serialize_seq(None)?;
        for (index, block) in self.blocks.iter().enumerate().filter(|(_, block)| can_send(block)) {
            let open = self.open && last == Some(index);
            content.serialize_element(&wire_block(block, open))?;
            if marked == Some(index) {
                content.serialize_element(&WireBlock::CachePoint(cache_point()))?;
            }
        }
        if let Some(text) = filler {
            content.serialize_element(&WireBlock::Text(text))?;
        }
        if self.marked.is_some() && marked.is_none() {
            content.serialize_element(&WireBlock::CachePoint(cache_point()))?;
        }
        content.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum WireBlock<'a> {
    Text(&'a str),
    Image(Image<'a>),
    ReasoningContent(Reasoning<'a>),
    ToolUse(ToolUse<'a>),
    ToolResult(ToolResult<'a>),
    CachePoint(CachePoint),
}

#[derive(Serialize)]
struct Image<'a> {
    format: &'a str,
    source: Source<'a>,
}

#[derive(Serialize)]
struct Source<'a> {
    bytes: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Reasoning<'a> {
    ReasoningText { text: &'a str, signature: &'a str },
    RedactedContent(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolUse<'a> {
    tool_use_id: &'a str,
    name: &'a str,
    input: OrderedJson<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult<'a> {
    tool_use_id: &'a str,
    content: ResultContent<'a>,
    status: &'static str,
}

/// `open` is the last text of a message that the model continues.
fn wire_block<'a>(block: &'a Block<'a>, open: bool) -> WireBlock<'a> {
    match block {
        Block::Text(text) => WireBlock::Text(if open { text.trim_end() } else { text }),
        Block::Image { data, mime_type } => image(data, mime_type),
        Block::Thinking { text, signature } => WireBlock::ReasoningContent(match signature {
            Some(signature) if signature.kind == SignatureKind::Redacted => {
                Reasoning::RedactedContent(&signature.data)
            }
            Some(signature) => Reasoning::ReasoningText { text, signature: &signature.data },
            None => Reasoning::ReasoningText { text, signature: "" },
        }),
        Block::Call { id, name, arguments } => {
            WireBlock::ToolUse(ToolUse { tool_use_id: id, name, input: *arguments })
        }
        Block::Result(result) => WireBlock::ToolResult(ToolResult {
            tool_use_id: &result.id,
            content: ResultContent(result),
            status: if result.is_error { "error" } else { "success" },
        }),
    }
}

fn image<'a>(data: &'a str, mime_type: &'a str) -> WireBlock<'a> {
    let format = mime_type.strip_prefix("image/").unwrap_or(mime_type);
    WireBlock::Image(Image { format, source: Source { bytes: data } })
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
                ResultBlock::Text(text) => WireBlock::Text(text),
                ResultBlock::Image { data, mime_type } => image(data, mime_type),
            };
            content.serialize_element(&block)?;
            empty = false;
        }
        if empty {
            content.serialize_element(&WireBlock::Text(claude::EMPTY_RESULT))?;
        }
        content.end()
    }
}
