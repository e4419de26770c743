//! Wire formats: encode requests, decode frames. Pure: no IO, no clock, no vendor.

mod answer_schema;
mod anthropic;
mod bedrock;
mod body;
mod chat;
mod claude;
#[cfg(test)]
mod claude_fixtures;
#[cfg(test)]
mod claude_tests;
mod codec;
mod count;
mod gemini;
mod lenient;
mod levels;
mod open_calls;
mod openai;
mod responses;
mod tool_schema;
mod tools;

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{Chunk, ProviderError};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error;
use crate::frame::{Frame, FrameDecoder, Framing};

pub use codec::{Decoder, WireRequest};
pub(crate) use lenient::failed_generation;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireKind {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Gemini `streamGenerateContent`.
    Gemini,
    /// Bedrock ConverseStream.
    Bedrock,
}

impl WireKind {
    /// All wire formats.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::Chat, Self::Responses, Self::Gemini, Self::Bedrock];

    /// The name used in vendor files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// The default request path, relative to the base URL. `{model}` stands for the percent-encoded model name.
    pub fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Gemini => "/v1beta/models/{model}:streamGenerateContent?alt=sse",
            Self::Bedrock => "/model/{model}/converse-stream",
        }
    }

    /// Headers that every request on this wire has.
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
            Self::Chat | Self::Responses | Self::Gemini | Self::Bedrock => &[],
        }
    }

    /// How responses are split into frames, unless the content type says otherwise.
    pub fn framing(self) -> Framing {
        match self {
            Self::Anthropic | Self::Chat | Self::Responses | Self::Gemini => Framing::Sse,
            Self::Bedrock => Framing::EventStream,
        }
    }

    /// Encodes a request body as JSON.
    pub fn encode(self, call: &WireRequest<'_>) -> Result<Vec<u8>, ProviderError> {
        match self {
            Self::Anthropic => anthropic::encode(call),
            Self::Chat => chat::encode(call),
            Self::Responses => responses::encode(call),
            Self::Gemini => gemini::encode(call),
            Self::Bedrock => bedrock::encode(call),
        }
    }

    /// Creates a decoder for one response of the model `origin` (`vendor/model`), which tags signatures.
    pub fn decoder(self, origin: Arc<str>) -> Box<dyn Decoder> {
        match self {
            Self::Anthropic => Box::new(anthropic::decoder(origin)),
            Self::Chat => Box::new(chat::decoder(origin)),
            Self::Responses => Box::new(responses::decoder(origin)),
            Self::Gemini => Box::new(gemini::decoder(origin)),
            Self::Bedrock => Box::new(bedrock::decoder(origin)),
        }
    }
}

/// Reads one answer, whatever the pieces in which its bytes arrive: frames and wire put together.
pub struct ResponseReader {
    frames: FrameDecoder,
    decoder: Box<dyn Decoder>,
}

impl ResponseReader {
    /// Reads an answer of the model `origin` (`vendor/model`) on `wire`, cut into frames by `framing`.
    pub fn new(wire: WireKind, framing: Framing, origin: impl Into<Arc<str>>) -> Self {
        Self { frames: FrameDecoder::new(framing), decoder: wire.decoder(origin.into()) }
    }

    /// Takes in the next bytes. What they complete is added to `chunks`, also if an error follows it.
    pub fn feed(&mut self, bytes: &[u8], chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let (decoder, before) = (&mut self.decoder, chunks.len());
        let fed = self.frames.feed(bytes, &mut |frame| decoder.frame(frame, chunks));
        add_totals(chunks, before);
        fed
    }

    /// Takes in a whole body that is JSON instead of a stream: one response, or a list of events.
    pub fn feed_json(&mut self, json: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let before = chunks.len();
        let fed = self.decode_json(json, chunks);
        add_totals(chunks, before);
        fed
    }

    fn decode_json(&mut self, json: &str, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let invalid = |problem| error::malformed(format_args!("invalid JSON: {problem}"));
        let values = serde_json::Deserializer::from_str(json).into_iter::<&RawValue>();
        let mut values = values.collect::<Result<Vec<_>, _>>().map_err(invalid)?;
        if let [list] = values.as_slice()
            && list.get().starts_with('[')
        {
            values = serde_json::from_str(list.get()).map_err(invalid)?;
        }
        match values.as_slice() {
            [response] => self.decoder.whole(response.get(), chunks)?,
            events => {
                for event in events {
                    self.decoder.frame(Frame { name: "", data: event.get() }, chunks)?;
                }
            }
        }
        self.decoder.finish(chunks)
    }

    /// What the model wrote, if the service refused it and says so in its error.
    pub(crate) fn failed_generation(&mut self) -> Option<String> {
        self.decoder.failed_generation()
    }

    /// The body has ended.
    pub fn finish(&mut self, chunks: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let (decoder, before) = (&mut self.decoder, chunks.len());
        let ended = self.frames.finish(&mut |frame| decoder.frame(frame, chunks));
        let ended = ended.and_then(|()| self.decoder.finish(chunks));
        add_totals(chunks, before);
        ended
    }
}

/// Adds the sum of its parts to each usage report behind the first `before` chunks that has no total, or one that leaves
/// out a part.
fn add_totals(chunks: &mut VecDeque<Chunk>, before: usize) {
    for chunk in chunks.iter_mut().skip(before) {
        if let Chunk::Usage { usage } = chunk {
            usage.total_tokens = usage.total_tokens.max(usage.parts());
        }
    }
}

#[cfg(test)]
mod openai_fixtures;
