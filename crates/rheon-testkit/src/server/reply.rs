//! `FakeReply`: what the model says to one request, and what goes wrong while it does.

use rheon_types::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::condition::ReplyCondition;
use super::fault::Fault;

/// One answer of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct FakeReply {
    /// Which requests it answers.
    pub when: ReplyCondition,
    /// How many requests it answers.
    pub times: ReplyCount,
    /// What the model says.
    pub blocks: Vec<ReplyBlock>,
    /// What the service says that it used.
    pub usage: UsageReport,
    /// Why the model stopped.
    pub stop: ReplyStop,
    /// How the answer is written.
    pub style: ReplyStyle,
    /// What goes wrong.
    pub faults: Vec<Fault>,
}

impl Default for FakeReply {
    fn default() -> Self {
        Self {
            when: ReplyCondition::default(),
            times: ReplyCount::Once,
            blocks: Vec::new(),
            usage: UsageReport::default(),
            stop: ReplyStop::Natural,
            style: ReplyStyle::default(),
            faults: Vec::new(),
        }
    }
}

impl FakeReply {
    /// An answer without content.
    pub fn empty() -> Self {
        Self::default()
    }

    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::empty().and_text(text)
    }

    /// An answer of one tool call.
    pub fn call(name: impl Into<String>, arguments: &Value) -> Self {
        Self::empty().and_call(name, arguments)
    }

    /// An answer of thinking alone.
    pub fn thinking(text: impl Into<String>, signature: impl Into<String>) -> Self {
        Self::empty().and_thinking(text, signature)
    }

    /// No answer but this fault.
    pub fn fault(fault: Fault) -> Self {
        Self::text("ok").with(fault)
    }

    /// A refusal with a status and the body that the service has for it.
    pub fn status(code: u16) -> Self {
        Self::fault(Fault::Status { code, body: None, headers: Vec::new() })
    }

    /// Adds a block.
    #[must_use]
    pub fn and(mut self, block: ReplyBlock) -> Self {
        self.blocks.push(block);
        self
    }

    /// Adds a text.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.and(ReplyBlock::Text { text: text.into(), signature: None })
    }

    /// Adds thinking with a signature.
    #[must_use]
    pub fn and_thinking(self, text: impl Into<String>, signature: impl Into<String>) -> Self {
        self.and(ReplyBlock::Thinking { text: text.into(), signature: Some(signature.into()) })
    }

    /// Adds a tool call; its id is made up by the server.
    #[must_use]
    pub fn and_call(self, name: impl Into<String>, arguments: &Value) -> Self {
        self.and(ReplyBlock::Call {
            id: None,
            name: name.into(),
            arguments: arguments.to_string(),
            signature: None,
        })
    }

    /// Adds a fault.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Sets which requests it answers.
    #[must_use]
    pub fn when(mut self, when: ReplyCondition) -> Self {
        self.when = when;
        self
    }

    /// Sets how many requests it answers.
    #[must_use]
    pub fn times(mut self, times: ReplyCount) -> Self {
        self.times = times;
        self
    }

    /// Sets what the service says that it used.
    #[must_use]
    pub fn usage(mut self, usage: UsageReport) -> Self {
        self.usage = usage;
        self
    }

    /// Sets why the model stopped.
    #[must_use]
    pub fn stop(mut self, stop: ReplyStop) -> Self {
        self.stop = stop;
        self
    }

    /// Sets how many characters a delta has; 0 for one delta per block.
    #[must_use]
    pub fn delta_chars(mut self, chars: usize) -> Self {
        self.style.delta_chars = chars;
        self
    }

    /// Sets how the answer is written.
    #[must_use]
    pub fn style(mut self, style: ReplyStyle) -> Self {
        self.style = style;
        self
    }
}

/// How many requests a reply answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyCount {
    /// One.
    Once,
    /// So many.
    Exactly(usize),
    /// All that fit.
    Always,
}

/// One block of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyBlock {
    /// Thinking that can be read.
    Thinking {
        /// What the model thought.
        text: String,
        /// What the service wants back with it.
        signature: Option<String>,
    },
    /// Thinking that cannot be read.
    Redacted {
        /// The service's own text for it.
        data: String,
    },
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What the service wants back with it; Gemini alone sends it.
        signature: Option<String>,
    },
    /// A tool call.
    Call {
        /// Its id; made up by the server if absent.
        id: Option<String>,
        /// Which tool.
        name: String,
        /// The arguments as the model writes them; need not be JSON.
        arguments: String,
        /// What the service wants back with it; Gemini alone sends it.
        signature: Option<String>,
    },
    /// A call of a tool that the request offers, with arguments that fit its schema; text where it offers none.
    AnyCall,
}

/// What the service says that a call used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageReport {
    /// These counts, in the fields of the service.
    Counts {
        /// As Rheon counts: `input` is without the cache.
        usage: Usage,
        /// How many of the output tokens were thinking.
        thinking: u64,
    },
    /// Nothing.
    Absent,
    /// The service's fields, each with this text in place of its number: `-1`, `null`, `1e300`, `"NaN"`, `NaN`.
    Every(String),
}

impl UsageReport {
    /// These counts, none of them for thinking.
    pub fn counts(usage: Usage) -> Self {
        Self::Counts { usage, thinking: 0 }
    }
}

impl Default for UsageReport {
    fn default() -> Self {
        Self::counts(Usage { input: 100, output: 20, ..Usage::default() })
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyStop {
    /// For tools if there are calls, otherwise because it was done.
    Natural,
    /// It was done.
    End,
    /// It wants tools to run.
    ToolUse,
    /// It reached the token limit of the answer.
    Length,
    /// The service would not let it go on.
    Refusal,
    /// The service's own word.
    Word(String),
}

/// How an answer is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyStyle {
    /// How many characters a delta has; 0 for one delta per block.
    pub delta_chars: usize,
    /// How Bedrock cuts its stream into events.
    pub bedrock: BedrockFraming,
    /// Where the chat wire puts thinking.
    pub reasoning: ReasoningField,
    /// How lines of server-sent events end and what stands between them.
    pub sse: SseStyle,
}

impl Default for ReplyStyle {
    fn default() -> Self {
        Self {
            delta_chars: 7,
            bedrock: BedrockFraming::EventStream,
            reasoning: ReasoningField::ReasoningContent,
            sse: SseStyle::AsService,
        }
    }
}

/// How Bedrock cuts its stream into events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BedrockFraming {
    /// Binary frames with checksums.
    #[default]
    EventStream,
    /// One JSON object per line.
    Lines,
}

/// Where the chat wire puts thinking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningField {
    /// `reasoning_content` (DeepSeek, Qwen, Moonshot and most others).
    #[default]
    ReasoningContent,
    /// `reasoning` (Groq, Cerebras, vLLM).
    Reasoning,
    /// `reasoning` and `reasoning_details` (OpenRouter).
    ReasoningDetails,
}

/// How lines of server-sent events end and what stands between them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SseStyle {
    /// As the service does it.
    #[default]
    AsService,
    /// Carriage returns alone.
    CarriageReturns,
    /// Carriage returns and line feeds, no space behind `data:`, comments and `id` and `retry` fields between events.
    Noisy,
}
