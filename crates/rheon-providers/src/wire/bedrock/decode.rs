//! Bedrock ConverseStream: responses.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rheon_types::{
    Chunk, DeltaText, ProviderError, ProviderErrorKind, Signature, SignatureKind, StopReason, ToolCallId,
    ToolName, Usage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error;
use crate::frame::{FRAME_BYTES_MAX, Frame};
use crate::wire::claude::read;
use crate::wire::codec::Decoder;
use crate::wire::count::Count;
use crate::wire::lenient::Text;
use crate::wire::open_calls::OpenCalls;

/// Creates a decoder for one response.
pub(in crate::wire) fn decoder(origin: Arc<str>) -> impl Decoder + use<> {
    Decode {
        origin,
        signature: String::new(),
        redacted: Redacted::default(),
        calls: OpenCalls::default(),
        stop_reason: None,
        counted: false,
        done: false,
    }
}

struct Decode {
    origin: Arc<str>,
    /// The signature of the current reasoning so far.
    signature: String,
    /// The redacted reasoning of the current block so far.
    redacted: Redacted,
    calls: OpenCalls,
    /// The stop reason, once known. Usage still follows.
    stop_reason: Option<StopReason>,
    counted: bool,
    done: bool,
}

impl Decoder for Decode {
    fn frame(&mut self, frame: Frame<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if self.done {
            return Ok(());
        }
        if !frame.name.is_empty() {
            return self.event(frame.name, frame.data, chunks);
        }
        // One JSON object per line, keyed by the event name.
        if !frame.data.trim_start().starts_with('{') {
            return Ok(());
        }
        let events: BTreeMap<Cow<'_, str>, &RawValue> = read("(unnamed)", frame.data)?;
        for (name, data) in events {
            if !self.done {
                self.event(&name, data.get(), chunks)?;
            }
        }
        Ok(())
    }

    /// The response of `Converse`, which does not stream.
    fn whole(&mut self, json: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let whole: WholeResponse<'_> = read("response", json)?;
        let Some(message) = whole.output.and_then(|output| output.message) else {
            return self.frame(Frame { name: "", data: json }, chunks);
        };
        for (block, index) in message.content.into_iter().zip(0..) {
            self.block(index, block, chunks)?;
            self.close_block(chunks);
            self.calls.end(index, chunks);
        }
        self.stop_reason = Some(stop_reason(&whole.stop_reason)?);
        self.count(&Metadata { usage: whole.usage }, chunks);
        self.end(chunks);
        Ok(())
    }

    fn finish(&mut self, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        self.end(chunks);
        Ok(())
    }
}

impl Decode {
    fn event(&mut self, name: &str, data: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        match name {
            "contentBlockDelta" => self.delta(read(name, data)?, chunks),
            "contentBlockStart" => {
                self.close_block(chunks);
                self.calls.continue_response(chunks);
                let start: BlockStart<'_> = read(name, data)?;
                match start.start.and_then(|start| start.tool_use) {
                    Some(call) => self.call(start.content_block_index, &call, chunks),
                    None => Ok(()),
                }
            }
            "contentBlockStop" => {
                let stop: BlockStop = read(name, data)?;
                self.close_block(chunks);
                self.calls.end(stop.content_block_index, chunks);
                Ok(())
            }
            "messageStop" => {
                self.stop_reason = Some(stop_reason(&read::<MessageStop<'_>>(name, data)?.stop_reason)?);
                if self.counted {
                    self.end(chunks);
                }
                Ok(())
            }
            "metadata" => {
                self.count(&read(name, data)?, chunks);
                self.end(chunks);
                Ok(())
            }
            _ if name.ends_with("Exception") => Err(exception(name, data)),
            // `messageStart`, and events added later.
            _ => Ok(()),
        }
    }

    /// Starts a call, unless it is one of the service's own tools, which are not for us to answer.
    fn call(
        &mut self,
        index: u32,
        call: &StartedCall<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        if call.kind.starts_with("server_") {
            return Ok(());
        }
        let (id, name) = (ToolCallId::from(&*call.tool_use_id), ToolName::from(&*call.name));
        let given = call.input.map(json_text).filter(|input| !input.is_empty());
        self.calls.start(index, id, name, given, chunks)
    }

    /// A block of a response that was not streamed.
    fn block(
        &mut self,
        index: u32,
        block: WholeBlock<'_>,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<(), ProviderError> {
        if let Some(call) = block.tool_use {
            self.call(index, &call, chunks)?;
        }
        let reasoning_content = block.reasoning_content.map(|reasoning| {
            let (text, signature) =
                reasoning.reasoning_text.map_or((None, None), |read| (read.text, read.signature));
            ReasoningDelta { text, signature, redacted_content: reasoning.redacted_content }
        });
        let delta = Delta { text: block.text, tool_use: None, reasoning_content };
        self.delta(BlockDelta { content_block_index: index, delta }, chunks)
    }

    fn delta(&mut self, event: BlockDelta<'_>, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let BlockDelta { content_block_index: index, delta } = event;
        if let Some(delta) = delta.text.filter(|text| !text.is_empty()) {
            // Text blocks have no start event.
            self.calls.continue_response(chunks);
            chunks.push_back(Chunk::Text { delta });
        }
        if let Some(input) = delta.tool_use.and_then(|call| call.input) {
            self.calls.write(index, json_text(input), chunks);
        }
        let Some(reasoning) = delta.reasoning_content else { return Ok(()) };
        if let Some(delta) = reasoning.text.filter(|text| !text.is_empty()) {
            self.calls.continue_response(chunks);
            chunks.push_back(Chunk::Thinking { delta });
        }
        if let Some(piece) = reasoning.signature {
            check_size(self.signature.len() + piece.len())?;
            self.signature.push_str(&piece);
        }
        if let Some(piece) = reasoning.redacted_content {
            self.redacted.push(piece)?;
        }
        Ok(())
    }

    fn close_block(&mut self, chunks: &mut VecDeque<Chunk>) {
        let pieces = [
            (std::mem::take(&mut self.signature), SignatureKind::Proof),
            (std::mem::take(&mut self.redacted).join(), SignatureKind::Redacted),
        ];
        for (data, kind) in pieces.into_iter().filter(|(data, _)| !data.is_empty()) {
            let signature = Signature { data, kind, id: None, origin: self.origin.to_string() };
            chunks.push_back(Chunk::Signature { signature: Box::new(signature) });
        }
    }

    fn count(&mut self, metadata: &Metadata, chunks: &mut VecDeque<Chunk>) {
        self.counted = true;
        if let Some(report) = &metadata.usage {
            let count = |reported: Option<Count>| reported.map_or(0, |count| count.0);
            let usage = Usage {
                input: count(report.input_tokens),
                output: count(report.output_tokens),
                cache_read: count(report.cache_read_input_tokens),
                cache_write: count(report.cache_write_input_tokens),
                total_tokens: count(report.total_tokens),
            };
            chunks.push_back(Chunk::Usage { usage });
        }
    }

    /// Ends the response if the stop reason is known.
    fn end(&mut self, chunks: &mut VecDeque<Chunk>) {
        if let Some(stop_reason) = self.stop_reason
            && !self.done
        {
            self.close_block(chunks);
            self.calls.finish(stop_reason, chunks);
            chunks.push_back(Chunk::Done { stop_reason });
            self.done = true;
        }
    }
}

fn stop_reason(reason: &str) -> Result<StopReason, ProviderError> {
    match reason {
        "tool_use" => Ok(StopReason::ToolUse),
        "max_tokens" | "model_context_window_exceeded" => Ok(StopReason::Length),
        "guardrail_intervened" | "content_filtered" | "refusal" => Err(ProviderError::new(
            ProviderErrorKind::ContentFilter,
            format!("the service refused the content ({reason}); change the request or use another model"),
        )),
        "malformed_model_output" | "malformed_tool_use" => {
            Err(error::malformed(format_args!("the model's output is malformed ({reason})")))
        }
        // `end_turn`, `stop_sequence`, and reasons added later.
        _ => Ok(StopReason::Stop),
    }
}

/// Arguments: a piece of JSON text, or an object.
fn json_text(input: &RawValue) -> DeltaText {
    match input.get() {
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_default(),
        "null" => DeltaText::default(),
        object => object.into(),
    }
}

fn exception(name: &str, data: &str) -> ProviderError {
    let body: Exception<'_> = serde_json::from_str(data).unwrap_or_default();
    let message = body.message.or(body.capital_message).or(body.original_message);
    error::in_stream(name, message.as_deref().unwrap_or("the service gave no reason"))
}

fn check_size(bytes: usize) -> Result<(), ProviderError> {
    if bytes <= FRAME_BYTES_MAX {
        return Ok(());
    }
    let message = format!("a signature in the response is larger than {FRAME_BYTES_MAX} bytes");
    Err(ProviderError::new(ProviderErrorKind::Api, message))
}

/// Redacted reasoning, in pieces of base64.
#[derive(Default)]
struct Redacted {
    pieces: Vec<String>,
    bytes: usize,
}

impl Redacted {
    fn push(&mut self, piece: String) -> Result<(), ProviderError> {
        self.bytes += piece.len() + size_of::<String>();
        check_size(self.bytes)?;
        self.pieces.push(piece);
        Ok(())
    }

    /// Joins the pieces. Each may be padded, so they cannot simply be concatenated.
    fn join(mut self) -> String {
        if self.pieces.len() > 1
            && let Ok(bytes) =
                self.pieces.iter().map(|piece| STANDARD.decode(piece)).collect::<Result<Vec<_>, _>>()
        {
            return STANDARD.encode(bytes.concat());
        }
        if self.pieces.len() == 1 { self.pieces.pop().unwrap_or_default() } else { self.pieces.concat() }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockDelta<'a> {
    #[serde(default)]
    content_block_index: u32,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delta<'a> {
    #[serde(default)]
    text: Option<DeltaText>,
    #[serde(borrow, default)]
    tool_use: Option<CallDelta<'a>>,
    #[serde(default)]
    reasoning_content: Option<ReasoningDelta>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReasoningDelta {
    #[serde(default)]
    text: Option<DeltaText>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    redacted_content: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockStart<'a> {
    #[serde(default)]
    content_block_index: u32,
    #[serde(borrow, default)]
    start: Option<StartedBlock<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartedBlock<'a> {
    #[serde(borrow, default)]
    tool_use: Option<StartedCall<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartedCall<'a> {
    #[serde(borrow, default)]
    tool_use_id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    /// Absent or `tool_use`; `server_tool_use` for a call that the service runs itself.
    #[serde(rename = "type", borrow, default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockStop {
    #[serde(default)]
    content_block_index: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageStop<'a> {
    #[serde(borrow, default)]
    stop_reason: Text<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WholeResponse<'a> {
    #[serde(borrow, default)]
    output: Option<WholeOutput<'a>>,
    #[serde(borrow, default)]
    stop_reason: Text<'a>,
    #[serde(default)]
    usage: Option<UsageReport>,
}

#[derive(Deserialize)]
struct WholeOutput<'a> {
    #[serde(borrow, default)]
    message: Option<WholeMessage<'a>>,
}

#[derive(Deserialize)]
struct WholeMessage<'a> {
    #[serde(borrow, default)]
    content: Vec<WholeBlock<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WholeBlock<'a> {
    #[serde(default)]
    text: Option<DeltaText>,
    #[serde(borrow, default)]
    tool_use: Option<StartedCall<'a>>,
    #[serde(default)]
    reasoning_content: Option<WholeReasoning>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WholeReasoning {
    #[serde(default)]
    reasoning_text: Option<ReasoningText>,
    #[serde(default)]
    redacted_content: Option<String>,
}

#[derive(Deserialize)]
struct ReasoningText {
    #[serde(default)]
    text: Option<DeltaText>,
    #[serde(default)]
    signature: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    usage: Option<UsageReport>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageReport {
    #[serde(default)]
    input_tokens: Option<Count>,
    #[serde(default)]
    output_tokens: Option<Count>,
    #[serde(default)]
    total_tokens: Option<Count>,
    #[serde(default)]
    cache_read_input_tokens: Option<Count>,
    #[serde(default)]
    cache_write_input_tokens: Option<Count>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exception<'a> {
    #[serde(borrow, default)]
    message: Option<Cow<'a, str>>,
    #[serde(rename = "Message", borrow, default)]
    capital_message: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    original_message: Option<Cow<'a, str>>,
}
