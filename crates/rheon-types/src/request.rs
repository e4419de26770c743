//! What a provider is asked, and the pieces in which it answers.

use std::sync::Arc;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::history::History;
use crate::id::{ToolCallId, ToolName};
use crate::stop::StopReason;
use crate::usage::Usage;

/// A piece of streamed text. Pieces of up to 24 bytes, which most are, need no allocation.
pub type DeltaText = CompactString;

/// One model call. Cheap to clone: everything large is shared.
#[derive(Debug, Clone)]
pub struct Request {
    /// The model, as the provider names it.
    pub model: Arc<str>,
    /// The system prompt; empty for none.
    pub system: Arc<str>,
    /// The conversation; providers send what [`History::for_model`] yields.
    pub messages: History,
    /// The tools the model may call.
    pub tools: Arc<[ToolDefinition]>,
    /// How much the model should think.
    pub thinking: ThinkingLevel,
    /// The most tokens the answer may have.
    pub tokens_max: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f32>,
}

/// How much a model should think before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum ThinkingLevel {
    /// Not at all.
    #[default]
    Off,
    /// As little as the service knows.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
}

impl ThinkingLevel {
    /// The level in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ToolDefinition {
    /// The name to call it by.
    pub name: ToolName,
    /// What it does and when to use it.
    pub description: String,
    /// A JSON Schema of its arguments.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::json()"))]
    pub parameters: Value,
}

/// One piece of a streamed answer.
///
/// A stream that ends without `Done` was cut. Pieces of one block arrive in order; blocks do not overlap, except that
/// tool calls may interleave by `index`.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// The model that really answers.
    Model {
        /// Its name.
        model: String,
    },
    /// A piece of text.
    Text {
        /// Only what is new.
        delta: DeltaText,
    },
    /// A piece of reasoning.
    Thinking {
        /// Only what is new.
        delta: DeltaText,
    },
    /// The service's proof of the reasoning so far; ends the reasoning block.
    Signature {
        /// To be sent back unchanged.
        signature: String,
    },
    /// A tool call begins.
    ToolCallStart {
        /// Tells parallel calls apart.
        index: u32,
        /// The service's id; may be empty or repeated, the loop mends that.
        id: ToolCallId,
        /// Which tool.
        name: ToolName,
    },
    /// A piece of a tool call's arguments, as JSON text.
    ToolCallDelta {
        /// Which call.
        index: u32,
        /// Only what is new.
        delta: DeltaText,
    },
    /// A tool call is complete.
    ToolCallEnd {
        /// Which call.
        index: u32,
    },
    /// The service's counts so far; a later report replaces an earlier one.
    Usage {
        /// The counts.
        usage: Usage,
    },
    /// The answer is complete.
    Done {
        /// Why the model stopped.
        stop_reason: StopReason,
    },
}
