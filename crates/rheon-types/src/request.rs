//! What a provider is asked, and the pieces in which it answers.

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
    /// The conversation; providers send what [`History::for_model`] yields.
    pub messages: History,
    /// Said after the conversation in the user's name, in this request only. No cache keeps it.
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
    /// The form the answer must have; free text if absent.
    pub output_schema: Option<Arc<OutputSchema>>,
    /// Which parts of the prompt the service should keep for the next request.
    pub cache: CacheConfig,
    /// The same for all requests of one conversation, for services that find their cache by a key.
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
    /// As it sees fit.
    #[default]
    Auto,
    /// None, though it sees them.
    None,
    /// At least one.
    Required,
    /// This one.
    Tool(ToolName),
}

/// The form an answer must have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A short name for it: letters, digits, `_` and `-`.
    pub name: String,
    /// A JSON Schema.
    pub schema: Value,
}

/// Whether and how prompts are kept in the service's cache.
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
    /// Whatever pays off on the service in use.
    #[default]
    Auto,
    /// None.
    Disabled,
    /// Those that are chosen here.
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
    /// As little as the service knows.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
    /// As much as the service knows.
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
/// A stream that ends without `Done` was cut. Pieces of one block arrive in order; blocks do not overlap, except that
/// tool calls may interleave by `index`.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// The model that really answers.
    Model {
        /// Its name.
        model: String,
    },
    /// The provider that really answers, where it is not the one that was asked.
    Provider {
        /// Its id.
        provider: Arc<str>,
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
    /// What the service wants back: ends the reasoning block before it, or is a block of its own, by its kind.
    Signature {
        /// To be sent back unchanged.
        signature: Box<Signature>,
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
    /// A whole block at once, taken as it stands: from services that do not stream, and from logs that are played again.
    Block {
        /// The block.
        block: Box<Content>,
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
