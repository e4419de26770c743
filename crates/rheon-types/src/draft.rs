//! `Draft`: an answer while it streams in. A pure state machine: chunks in, content out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::{Content, Signature, SignatureKind, ToolCall};
use crate::id::{ToolCallId, ToolName};
use crate::key_order::KeyOrder;
use crate::request::Chunk;
use crate::stop::StopReason;
use crate::usage::Usage;

/// The maximum size of one answer. Each chunk counts at least one byte, each block 256 more.
pub const DRAFT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The fixed cost of a block, so that countless small blocks cannot grow without bound.
const BLOCK_BYTES: usize = 256;

/// The maximum nesting of arguments. They are embedded in other JSON, which readers limit to 128 levels.
const ARGUMENTS_DEPTH_MAX: usize = 64;

/// How many characters of malformed arguments the model sees.
const MALFORMED_CHARS_MAX: usize = 2_000;

/// An answer that is still streaming in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    blocks: Vec<Block>,
    /// The block of each tool call that is still being written, by its index in the stream.
    open: BTreeMap<u32, usize>,
    model: Option<String>,
    provider: Option<Arc<str>>,
    usage: Usage,
    stop_reason: Option<StopReason>,
    bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Block {
    Text(String),
    Thinking { text: String, signature: Option<Signature> },
    Call(DraftCall),
    Whole(Content),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DraftCall {
    id: ToolCallId,
    name: ToolName,
    json: String,
    complete: bool,
}

/// A chunk that does not fit this draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The answer grew past [`DRAFT_BYTES_MAX`].
    #[error("the answer is larger than {DRAFT_BYTES_MAX} bytes")]
    TooLarge,
    /// A chunk of a tool call that never started or is already complete.
    #[error("received a chunk for tool call {0}, which is not open")]
    CallNotOpen(u32),
    /// A tool call that is already open.
    #[error("tool call {0} starts twice")]
    CallOpenTwice(u32),
}

/// A finished answer.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftOutcome {
    /// The blocks, in order.
    pub content: Vec<Content>,
    /// The model that answered, where the stream named it.
    pub model: Option<String>,
    /// The provider that answered, if it is not the requested one.
    pub provider: Option<Arc<str>>,
    /// The last counts reported.
    pub usage: Usage,
    /// Why the answer ended.
    pub stop_reason: StopReason,
}

impl Draft {
    /// An empty draft.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one chunk, in time proportional to its text.
    pub fn push(&mut self, chunk: &Chunk) -> Result<(), DraftError> {
        match chunk {
            Chunk::Model { model } => {
                self.grow(model.len())?;
                self.model = Some(model.clone());
            }
            Chunk::Provider { provider } => {
                self.grow(provider.len())?;
                self.provider = Some(Arc::clone(provider));
            }
            Chunk::Text { delta } => self.write(delta)?,
            Chunk::Thinking { delta } => self.think(delta)?,
            Chunk::Signature { signature } => self.sign(signature)?,
            Chunk::ToolCallStart { index, id, name } => self.start_call(*index, id, name)?,
            Chunk::ToolCallDelta { index, delta } => {
                self.grow(delta.len())?;
                self.open_call(*index)?.json.push_str(delta);
            }
            Chunk::ToolCallEnd { index } => {
                self.open_call(*index)?.complete = true;
                self.open.remove(index);
            }
            Chunk::Block { block } => {
                self.grow(block.bytes())?;
                self.open_block(Block::Whole(Content::clone(block)))?;
            }
            Chunk::Usage { usage } => {
                self.grow(1)?;
                self.usage = *usage;
            }
            Chunk::Notice { .. } => {}
            Chunk::Done { stop_reason } => self.stop_reason = Some(*stop_reason),
        }
        Ok(())
    }

    /// Whether the stream is complete.
    pub fn is_done(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// Whether anything a user could have seen has arrived.
    pub fn has_output(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// The id and name of the open tool call `index`.
    pub fn call(&self, index: u32) -> Option<(&ToolCallId, &ToolName)> {
        match self.blocks.get(*self.open.get(&index)?) {
            Some(Block::Call(call)) => Some((&call.id, &call.name)),
            Some(Block::Text(_) | Block::Thinking { .. } | Block::Whole(_)) | None => None,
        }
    }

    /// Finishes the draft with the stream's stop reason, or with `cut` if the stream was cut off.
    ///
    /// An incomplete tool call never becomes one that could run. If the answer reached its token limit, the call is
    /// marked as malformed and the model sees why; a cut answer drops it.
    pub fn finish(self, cut: StopReason) -> DraftOutcome {
        let complete_stream = self.stop_reason.is_some();
        let mut content = Vec::with_capacity(self.blocks.len());
        for block in self.blocks {
            match block {
                Block::Text(text) => content.push(Content::Text { text }),
                Block::Thinking { text, signature } => {
                    content.push(Content::Thinking { thinking: text, signature });
                }
                Block::Call(call) if call.complete || complete_stream => {
                    content.push(Content::ToolCall(call.into_tool_call()));
                }
                Block::Call(_) => {}
                Block::Whole(block) => content.push(block),
            }
        }
        let has_calls = content.iter().any(|block| matches!(block, Content::ToolCall(_)));
        let stop_reason = match self.stop_reason {
            Some(StopReason::ToolUse) if !has_calls => StopReason::Stop,
            Some(StopReason::Stop) if has_calls => StopReason::ToolUse,
            Some(reason) => reason,
            None => cut,
        };
        let (model, provider, usage) = (self.model, self.provider, self.usage);
        DraftOutcome { content, model, provider, usage, stop_reason }
    }

    fn grow(&mut self, bytes: usize) -> Result<(), DraftError> {
        self.bytes = self.bytes.saturating_add(bytes.max(1));
        if self.bytes > DRAFT_BYTES_MAX { Err(DraftError::TooLarge) } else { Ok(()) }
    }

    fn open_block(&mut self, block: Block) -> Result<(), DraftError> {
        self.grow(BLOCK_BYTES)?;
        self.blocks.push(block);
        Ok(())
    }

    /// An empty chunk opens no block, because services reject messages with an empty block.
    fn write(&mut self, delta: &str) -> Result<(), DraftError> {
        self.grow(delta.len())?;
        match self.blocks.last_mut() {
            _ if delta.is_empty() => {}
            Some(Block::Text(text)) => text.push_str(delta),
            Some(Block::Thinking { .. } | Block::Call(_) | Block::Whole(_)) | None => {
                self.open_block(Block::Text(delta.to_owned()))?;
            }
        }
        Ok(())
    }

    fn think(&mut self, delta: &str) -> Result<(), DraftError> {
        self.grow(delta.len())?;
        match self.blocks.last_mut() {
            _ if delta.is_empty() => {}
            Some(Block::Thinking { text, signature: None }) => text.push_str(delta),
            Some(Block::Thinking { .. } | Block::Text(_) | Block::Call(_) | Block::Whole(_)) | None => {
                self.open_block(Block::Thinking { text: delta.to_owned(), signature: None })?;
            }
        }
        Ok(())
    }

    /// A proof closes the thinking block before it, so later thinking opens the next one. Other kinds are separate
    /// blocks.
    fn sign(&mut self, signature: &Signature) -> Result<(), DraftError> {
        self.grow(signature.data.len() + signature.id.as_ref().map_or(0, String::len))?;
        match (signature.kind, self.blocks.last_mut()) {
            (SignatureKind::Proof, Some(Block::Thinking { signature: open @ None, .. })) => {
                *open = Some(signature.clone());
                Ok(())
            }
            (SignatureKind::Proof | SignatureKind::Redacted | SignatureKind::Next, _) => {
                self.open_block(Block::Thinking { text: String::new(), signature: Some(signature.clone()) })
            }
        }
    }

    fn start_call(&mut self, index: u32, id: &ToolCallId, name: &ToolName) -> Result<(), DraftError> {
        self.grow(id.as_str().len() + name.as_str().len())?;
        if self.open.contains_key(&index) {
            return Err(DraftError::CallOpenTwice(index));
        }
        self.open.insert(index, self.blocks.len());
        let (id, name) = (id.clone(), name.clone());
        self.open_block(Block::Call(DraftCall { id, name, json: String::new(), complete: false }))
    }

    fn open_call(&mut self, index: u32) -> Result<&mut DraftCall, DraftError> {
        match self.open.get(&index).and_then(|block| self.blocks.get_mut(*block)) {
            Some(Block::Call(call)) => Ok(call),
            Some(Block::Text(_) | Block::Thinking { .. } | Block::Whole(_)) | None => {
                Err(DraftError::CallNotOpen(index))
            }
        }
    }
}

impl DraftCall {
    fn into_tool_call(self) -> ToolCall {
        let (arguments, malformed) = match parse_arguments(&self.json) {
            Ok(arguments) if self.complete => (arguments, None),
            Ok(_) => (Map::new(), Some(quote("the answer ended before the call was complete", &self.json))),
            Err(problem) if self.complete => (Map::new(), Some(quote(&problem, &self.json))),
            Err(_) => (Map::new(), Some(quote("the arguments were cut off", &self.json))),
        };
        let (id, name) = (self.id, self.name);
        let key_order = if malformed.is_none() { KeyOrder::of(&self.json).map(Arc::new) } else { None };
        ToolCall { id, name, arguments: Arc::new(Value::Object(arguments)), malformed, key_order }
    }
}

/// Several services send empty text for a call without arguments.
fn parse_arguments(json: &str) -> Result<Map<String, Value>, String> {
    if json.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(json) {
        Ok(value) if depth(&value) > ARGUMENTS_DEPTH_MAX => {
            Err(format!("the arguments are nested deeper than {ARGUMENTS_DEPTH_MAX} levels"))
        }
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(Value::Bool(_)) => Err("the arguments are a boolean, not a JSON object".into()),
        Ok(Value::Number(_)) => Err("the arguments are a number, not a JSON object".into()),
        Ok(Value::String(_)) => Err("the arguments are a string, not a JSON object".into()),
        Ok(Value::Array(_)) => Err("the arguments are an array, not a JSON object".into()),
        Err(error) => Err(format!("the arguments are not JSON: {error}")),
    }
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 0,
    };
    inner.unwrap_or(0) + 1
}

fn quote(problem: &str, json: &str) -> String {
    let shown: String = json.chars().take(MALFORMED_CHARS_MAX).collect();
    let more = if shown.len() < json.len() { " ... (shortened)" } else { "" };
    format!("{problem}: {shown}{more}")
}
