//! Wire formats: requests out, frames in. Pure: no IO, no clock, no vendor.

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
mod count;
mod gemini;
mod lenient;
mod levels;
mod open_calls;
mod openai;
mod reader;
mod responses;
mod seam;
mod tool_schema;
mod tools;

use std::sync::Arc;

use rheon_types::ProviderError;
use serde::Deserialize;

use crate::frame::Framing;

pub use reader::ResponseReader;
pub use seam::{Call, Decoder};

/// The wire formats there are.
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::Chat, Self::Responses, Self::Gemini, Self::Bedrock];

    /// Its name, as vendor files have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// Where requests go, below the base address. `{model}` stands for the model's name, percent-encoded.
    pub fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Gemini => "/v1beta/models/{model}:streamGenerateContent?alt=sse",
            Self::Bedrock => "/model/{model}/converse-stream",
        }
    }

    /// Headers that every request of this wire has, whoever sends it.
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
            Self::Chat | Self::Responses | Self::Gemini | Self::Bedrock => &[],
        }
    }

    /// How answers are cut into frames, unless their content type says otherwise.
    pub fn framing(self) -> Framing {
        match self {
            Self::Anthropic | Self::Chat | Self::Responses | Self::Gemini => Framing::Sse,
            Self::Bedrock => Framing::EventStream,
        }
    }

    /// The body of a request: JSON.
    pub fn encode(self, call: &Call<'_>) -> Result<Vec<u8>, ProviderError> {
        match self {
            Self::Anthropic => anthropic::encode(call),
            Self::Chat => chat::encode(call),
            Self::Responses => responses::encode(call),
            Self::Gemini => gemini::encode(call),
            Self::Bedrock => bedrock::encode(call),
        }
    }

    /// A decoder for one answer of the model `origin` (`vendor/model`), with which signatures are tagged.
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

#[cfg(test)]
mod openai_fixtures;
