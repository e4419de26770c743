//! Requests to providers, and the chunks of their answers.

use std::sync::Arc;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::{Content, Signature};
use crate::history::History;
use crate::id::{ToolCallId, ToolName};
use crate::stop::StopReason;
use crate::system_prompt::SystemPrompt;
use crate::usage::Usage;

/// A piece of streamed text. Pieces of up to 24 bytes, which most are, need no allocation.
pub type DeltaText = CompactString;

/// One model call. Cheap to clone: everything large is shared.
#[derive(Debug, Clone)]
pub struct Request {
    /// The model, as the provider names it.
    pub model: Arc<str>,
    /// The system prompt; empty for none.
    pub system: SystemPrompt,
    /// The conversation. Providers send what [`History::for_model`] yields.
    pub messages: History,
    /// Text appended after the conversation as the user, in this request only. It is not cached.
    pub reminder: Option<Arc<str>>,
    /// The tools the model may call.
    pub tools: Arc<[ToolDefinition]>,
    /// Whether the model must call one.
    pub tool_choice: ToolChoice,
    /// How much the model should think.
    pub thinking: ThinkingLevel,
    /// The most tokens the answer may have.
    pub tokens_max: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f32>,
    /// The schema the answer must match; free text if `None`.
    pub output_schema: Option<Arc<OutputSchema>>,
    /// Which parts of the prompt the service should cache.
    pub cache: CacheConfig,
    /// A key shared by all requests of one conversation, for services that look up their cache by key.
    pub cache_key: Option<Arc<str>>,
}

impl Request {
    /// A request to `model` with nothing in it.
    pub fn new(model: impl Into<Arc<str>>) -> Self {
        Self {
            model: model.into(),
            system: SystemPrompt::default(),
            messages: History::new(),
            reminder: None,
            tools: Arc::from([]),
            tool_choice: ToolChoice::Auto,
            thinking: ThinkingLevel::Off,
            tokens_max: None,
            temperature: None,
            output_schema: None,
            cache: CacheConfig::default(),
            cache_key: None,
        }
    }
}

/// Whether the model must call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model sees the tools but may not call any.
    None,
    /// At least one.
    Required,
    /// This one.
    Tool(ToolName),
}

/// A schema that answers must match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A short name for it: letters, digits, `_` and `-`.
    pub name: String,
    /// A JSON Schema.
    pub schema: Value,
}

/// Prompt caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheConfig {
    /// The master switch.
    pub enabled: bool,
    /// Which parts.
    pub strategy: CacheStrategy,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { enabled: true, strategy: CacheStrategy::Auto }
    }
}

/// Which parts of a prompt are marked for the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheStrategy {
    /// Chosen to suit the service.
    #[default]
    Auto,
    /// None.
    Disabled,
    /// Only these parts.
    Manual {
        /// The system prompt.
        cache_system: bool,
        /// The definitions of the tools.
        cache_tools: bool,
        /// The conversation.
        cache_messages: bool,
    },
}

/// How much a model should think before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum ThinkingLevel {
    /// Not at all.
    #[default]
    Off,
    /// The service's lowest level.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
    /// The service's highest level.
    Max,
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
            Self::Max => "max",
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
/// A stream that ends without `Done` was cut off. Chunks of one block arrive in order. Blocks do not overlap, except
/// that tool calls may interleave by `index`.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// The model that actually answers.
    Model {
        /// Its name.
        model: String,
    },
    /// The provider that actually answers, if it is not the requested one.
    Provider {
        /// Its id.
        provider: Arc<str>,
    },
    /// A piece of text.
    Text {
        /// The new text.
        delta: DeltaText,
    },
    /// A piece of reasoning.
    Thinking {
        /// The new text.
        delta: DeltaText,
    },
    /// An opaque signature of the service. Depending on its kind it ends the preceding reasoning block or is a block by
    /// itself.
    Signature {
        /// Sent back unchanged.
        signature: Box<Signature>,
    },
    /// A tool call starts.
    ToolCallStart {
        /// Distinguishes parallel calls.
        index: u32,
        /// The service's id. It may be empty or repeated; the run makes it unique.
        id: ToolCallId,
        /// Which tool.
        name: ToolName,
    },
    /// A piece of a tool call's arguments, as JSON text.
    ToolCallDelta {
        /// Which call.
        index: u32,
        /// The new text.
        delta: DeltaText,
    },
    /// A tool call is complete.
    ToolCallEnd {
        /// Which call.
        index: u32,
    },
    /// A whole block at once, from services that do not stream and from replayed logs.
    Block {
        /// The block.
        block: Box<Content>,
    },
    /// Something the user should know about this call, though it continues.
    Notice {
        /// What happened, to what, and what to do next.
        message: String,
    },
    /// The service's token counts so far; a later report replaces an earlier one.
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
