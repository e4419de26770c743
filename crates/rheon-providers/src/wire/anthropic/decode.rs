//! Anthropic Messages: responses.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{
    Chunk, DeltaText, ProviderError, ProviderErrorKind, Signature, SignatureKind, StopReason, ToolCallId,
    ToolName, Usage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::frame::{FRAME_BYTES_MAX, Frame};
use crate::wire::claude::read;
use crate::wire::codec::Decoder;
use crate::wire::count::Count;
use crate::wire::lenient::{self, Text, parse_or_default};
use crate::wire::open_calls::OpenCalls;

/// The maximum length of a refusal reason.
const REASON_CHARS_MAX: usize = 500;

/// Creates a decoder for one response.
pub(in crate::wire) fn decoder(origin: Arc<str>) -> impl Decoder + use<> {
    Decode {
        origin,
        block: OpenBlock::default(),
        calls: OpenCalls::default(),
        usage: Usage::default(),
        stop_reason: None,
        done: false,
    }
}

struct Decode {
    origin: Arc<str>,
    block: OpenBlock,
    calls: OpenCalls,
    usage: Usage,
    stop_reason: Option<StopReason>,
    done: bool,
}

/// The current block, unless it is a tool call.
#[derive(Default)]
struct OpenBlock {
    /// The index of a block of an unknown kind, whose content is ignored.
    ignored: Option<u32>,
    /// The signature of its thinking so far.
    signature: String,
    /// The index of the block that ended last: what still comes for it is ignored.
    ended: Option<u32>,
}

impl Decoder for Decode {
    fn frame(&mut self, frame: Frame<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if self.done {
            return Ok(());
        }
        match frame.name {
            "" | "message" if frame.data.trim_start().starts_with('{') => {
                let tag: TypeTag<'_> = read("(unnamed)", frame.data)?;
                self.event(&tag.kind, frame.data, chunks)
            }
            "" | "message" => Ok(()),
            name => self.event(name, frame.data, chunks),
        }
    }

    /// A message that was not streamed: its blocks, then its end.
    fn whole(&mut self, json: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let message: WholeMessage<'_> = read("message", json)?;
        let Some(content) = message.content else {
            return self.frame(Frame { name: "", data: json }, chunks);
        };
        self.name_model(&message.model, chunks);
        for (content_block, index) in content.into_iter().zip(0..) {
            self.block_start(&BlockStart { index, content_block }, chunks)?;
            self.close_block(chunks);
            self.calls.end(index, chunks);
        }
        let (stop_reason, stop_details) = (message.stop_reason, message.stop_details);
        let delta = Some(StopDelta { stop_reason, stop_details });
        self.message_delta(MessageDelta { delta, usage: message.usage }, chunks)?;
        self.end(chunks);
        Ok(())
    }

    fn finish(&mut self, _chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        Ok(())
    }
}

impl Decode {
    fn event(&mut self, name: &str, data: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        match name {
            "content_block_delta" => self.delta(read(name, data)?, chunks),
            "content_block_start" => self.block_start(&read(name, data)?, chunks),
            "content_block_stop" => {
                let stop: BlockStop = read(name, data)?;
                self.close_block(chunks);
                self.block.ended = Some(stop.index);
                self.calls.end(stop.index, chunks);
                Ok(())
            }
            "message_start" => {
                let start: MessageStart<'_> = read(name, data)?;
                self.block.ended = None;
                self.name_model(&start.message.model, chunks);
                self.count(start.message.usage, chunks);
                Ok(())
            }
            "message_delta" => self.message_delta(read(name, data)?, chunks),
            "message_stop" => {
                self.end(chunks);
                Ok(())
            }
            "error" => Err(lenient::reported(read::<Failure<'_>>(name, data)?.error.get())),
            // `ping`, and events added later.
            _ => Ok(()),
        }
    }

    fn name_model(&self, model: &Text<'_>, chunks: &mut VecDeque<Chunk>) {
        if !model.is_empty() {
            chunks.push_back(Chunk::Model { model: model.to_string() });
        }
    }

    fn end(&mut self, chunks: &mut VecDeque<Chunk>) {
        self.close_block(chunks);
        let stop_reason = self.stop_reason.unwrap_or(StopReason::Stop);
        self.calls.finish(stop_reason, chunks);
        chunks.push_back(Chunk::Done { stop_reason });
        self.done = true;
    }

    /// A delta is what its fields say: some services leave out its type, or name it differently.
    fn delta(&mut self, event: BlockDelta, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let BlockDelta { index, delta } = event;
        if self.block.ignored == Some(index) || self.block.ended == Some(index) {
            return Ok(());
        }
        push_text(delta.text, chunks);
        push_thinking(delta.thinking, chunks);
        if let Some(piece) = delta.partial_json {
            self.calls.write(index, piece, chunks);
        }
        self.sign(delta.signature.as_deref().unwrap_or_default())
    }

    fn block_start(
        &mut self,
        event: &BlockStart<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        const NAME: &str = "content_block_start";
        self.close_block(chunks);
        self.block.ended = self.block.ended.filter(|ended| *ended != event.index);
        self.calls.continue_response(chunks);
        let content = event.content_block.get();
        match block_kind(&read::<TypeTag<'_>>(NAME, content)?.kind) {
            "text" => push_text(read::<TextBlock>(NAME, content)?.text, chunks),
            "thinking" => {
                let block: ThinkingBlock = read(NAME, content)?;
                push_thinking(block.thinking, chunks);
                self.sign(block.signature.as_deref().unwrap_or_default())?;
            }
            "redacted_thinking" => {
                let block: RedactedBlock = read(NAME, content)?;
                self.push_signature(block.data, SignatureKind::Redacted, chunks);
            }
            "tool_use" => {
                let call: CallBlock<'_> = read(NAME, content)?;
                let given = call.input.map(RawValue::get).filter(|input| has_content(input));
                let (id, name) = (ToolCallId::from(&*call.id), ToolName::from(&*call.name));
                self.calls.start(event.index, id, name, given.map(DeltaText::from), chunks)?;
            }
            // `server_tool_use` and its results, and blocks added later.
            _ => self.block.ignored = Some(event.index),
        }
        Ok(())
    }

    /// A signature may come in pieces; it is passed on when its block ends.
    fn sign(&mut self, piece: &str) -> Result<(), ProviderError> {
        if self.block.signature.len() + piece.len() > FRAME_BYTES_MAX {
            return Err(ProviderError::new(
                ProviderErrorKind::Api,
                format!("a signature in the response is larger than {FRAME_BYTES_MAX} bytes"),
            ));
        }
        self.block.signature.push_str(piece);
        Ok(())
    }

    fn close_block(&mut self, chunks: &mut VecDeque<Chunk>) {
        let ended = self.block.ended;
        let block = std::mem::replace(&mut self.block, OpenBlock { ended, ..OpenBlock::default() });
        if !block.signature.is_empty() {
            self.push_signature(block.signature, SignatureKind::Proof, chunks);
        }
    }

    fn push_signature(&self, data: String, kind: SignatureKind, chunks: &mut VecDeque<Chunk>) {
        let signature = Signature { data, kind, id: None, origin: self.origin.to_string() };
        chunks.push_back(Chunk::Signature { signature: Box::new(signature) });
    }

    /// Counts are cumulative, and a report may omit some: missing counts stay unchanged.
    fn count(&mut self, report: Option<UsageReport>, chunks: &mut VecDeque<Chunk>) {
        let Some(report) = report else { return };
        let update = |count: &mut u64, reported: Option<Count>| {
            if let Some(Count(reported @ 1..)) = reported {
                *count = reported;
            }
        };
        update(&mut self.usage.input, report.input_tokens);
        update(&mut self.usage.output, report.output_tokens);
        update(&mut self.usage.cache_read, report.cache_read_input_tokens);
        update(&mut self.usage.cache_write, report.cache_creation_input_tokens);
        chunks.push_back(Chunk::Usage { usage: self.usage });
    }

    fn message_delta(
        &mut self,
        event: MessageDelta<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        self.count(event.usage, chunks);
        let Some(delta) = event.delta else { return Ok(()) };
        let Some(reason) = delta.stop_reason else { return Ok(()) };
        if reason.is_empty() {
            return Ok(());
        }
        self.stop_reason = Some(match &*reason {
            "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "tool_use" => StopReason::ToolUse,
            "refusal" => {
                let details: StopDetails<'_> = delta.stop_details.map(parse_or_default).unwrap_or_default();
                let why = if details.explanation.is_empty() { "none" } else { &details.explanation };
                let why: String = why.chars().take(REASON_CHARS_MAX).collect();
                return Err(ProviderError::new(
                    ProviderErrorKind::ContentFilter,
                    format!(
                        "the model refused to answer; change the request or use another model (reason: {why})"
                    ),
                ));
            }
            // `end_turn`, `stop_sequence`, `pause_turn`, and reasons added later.
            _ => StopReason::Stop,
        });
        Ok(())
    }
}

fn push_text(delta: Option<DeltaText>, chunks: &mut VecDeque<Chunk>) {
    if let Some(delta) = delta.filter(|delta| !delta.is_empty()) {
        chunks.push_back(Chunk::Text { delta });
    }
}

fn push_thinking(delta: Option<DeltaText>, chunks: &mut VecDeque<Chunk>) {
    if let Some(delta) = delta.filter(|delta| !delta.is_empty()) {
        chunks.push_back(Chunk::Thinking { delta });
    }
}

/// The kind of a block whose content is for us. Kinds are compared by what they are, because services add variants of
/// them; tools that the service runs itself, and their results, stay as they are named.
fn block_kind(kind: &str) -> &str {
    match kind {
        "server_tool_use" | "mcp_tool_use" => kind,
        _ if kind.ends_with("tool_use") => "tool_use",
        "" | "output_text" => "text",
        "reasoning" => "thinking",
        _ => kind,
    }
}

/// Whether the `input` at the start of a call is more than a placeholder for streamed arguments.
fn has_content(input: &str) -> bool {
    let words = || input.bytes().filter(|byte| !byte.is_ascii_whitespace());
    !(words().eq(*b"{}") || words().eq(*b"null") || words().eq(*b"\"\""))
}

#[derive(Deserialize)]
struct TypeTag<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Text<'a>,
}

#[derive(Deserialize)]
struct BlockDelta {
    #[serde(default)]
    index: u32,
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    text: Option<DeltaText>,
    #[serde(default)]
    partial_json: Option<DeltaText>,
    #[serde(default)]
    thinking: Option<DeltaText>,
    #[serde(default)]
    signature: Option<String>,
}

#[derive(Deserialize)]
struct BlockStart<'a> {
    #[serde(default)]
    index: u32,
    #[serde(borrow)]
    content_block: &'a RawValue,
}

#[derive(Deserialize)]
struct TextBlock {
    #[serde(default)]
    text: Option<DeltaText>,
}

#[derive(Deserialize)]
struct ThinkingBlock {
    #[serde(default)]
    thinking: Option<DeltaText>,
    #[serde(default)]
    signature: Option<String>,
}

#[derive(Deserialize)]
struct RedactedBlock {
    data: String,
}

#[derive(Deserialize)]
struct CallBlock<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct BlockStop {
    #[serde(default)]
    index: u32,
}

#[derive(Deserialize)]
struct MessageStart<'a> {
    #[serde(borrow)]
    message: StartedMessage<'a>,
}

#[derive(Deserialize)]
struct StartedMessage<'a> {
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(default)]
    usage: Option<UsageReport>,
}

/// A message that was not streamed.
#[derive(Deserialize)]
struct WholeMessage<'a> {
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    stop_details: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<UsageReport>,
}

#[derive(Deserialize)]
struct UsageReport {
    #[serde(default)]
    input_tokens: Option<Count>,
    #[serde(default)]
    output_tokens: Option<Count>,
    #[serde(default)]
    cache_read_input_tokens: Option<Count>,
    #[serde(default)]
    cache_creation_input_tokens: Option<Count>,
}

#[derive(Deserialize)]
struct MessageDelta<'a> {
    #[serde(borrow, default)]
    delta: Option<StopDelta<'a>>,
    #[serde(default)]
    usage: Option<UsageReport>,
}

#[derive(Deserialize)]
struct StopDelta<'a> {
    #[serde(borrow, default)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    stop_details: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct StopDetails<'a> {
    #[serde(borrow, default)]
    explanation: Text<'a>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    error: &'a RawValue,
}
