//! `TokenCounter`: the estimated tokens of texts, messages, tools and whole requests, for one family of models;
//! `MessageCounts`: those of each message of a growing conversation, counted once.

use std::ops::Range;

use rheon_types::{
    AgentMessage, Content, History, Message, Request, StopReason, SystemPrompt, ToolCall, ToolDefinition,
};
use serde_json::Value;

use super::family::{Family, GENERAL, family_of};
use super::scan::Tally;

/// Overhead of a message: its role and delimiters.
const MESSAGE_TOKENS: u64 = 4;
/// Overhead of a tool call or result, besides its id.
const CALL_TOKENS: u64 = 8;
/// Overhead of a tool definition.
const TOOL_TOKENS: u64 = 8;
/// Weights are in hundredths.
const HUNDRED: u64 = 100;
/// The maximum number of bytes to scan; a longer text is extrapolated.
const SCAN_BYTES_MAX: usize = 4 << 20;
/// Bytes per token for unknown text.
const FLAT_BYTES: u64 = 4;

/// Estimates tokens for one model from the structure of a text. A pure function of its input; cheap to copy.
///
/// Tool calls, results, definitions, images and thinking all count, because services count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenCounter {
    family: &'static Family,
}

impl Default for TokenCounter {
    /// A counter for an unknown model.
    fn default() -> Self {
        Self { family: &GENERAL }
    }
}

impl TokenCounter {
    /// For this model, by its name.
    pub fn for_model(model: &str) -> Self {
        Self { family: family_of(model) }
    }

    /// The family of models it counts for.
    pub fn family(&self) -> &'static str {
        self.family.name
    }

    /// The tokens of `text`.
    pub fn text(&self, text: &str) -> u64 {
        let seen = text.get(..text.floor_char_boundary(SCAN_BYTES_MAX)).unwrap_or(text);
        let tally = Tally::of(seen);
        let pieces = tally.counts().iter().zip(self.family.weights);
        let hundredths: u64 = pieces.map(|(count, weight)| u64::from(*count) * u64::from(*weight)).sum();
        let tokens = (hundredths * self.family.percent).div_ceil(HUNDRED * HUNDRED);
        if seen.len() == text.len() {
            return tokens;
        }
        let whole = u128::from(tokens) * text.len() as u128 / seen.len().max(1) as u128;
        u64::try_from(whole).unwrap_or(u64::MAX)
    }

    /// The tokens of `value` as JSON text.
    pub fn json(&self, value: &Value) -> u64 {
        self.text(&value.to_string())
    }

    /// The tokens of one block of a message.
    pub fn block(&self, block: &Content) -> u64 {
        match block {
            Content::Text { text } => self.text(text),
            Content::Image { .. } => self.family.image_tokens,
            Content::Thinking { thinking, signature } => {
                // A signature stands for hidden thinking of about its size.
                let hidden = signature.as_ref().filter(|_| thinking.is_empty());
                self.text(thinking) + hidden.map_or(0, |signature| flat_tokens(signature.data.len()))
            }
            Content::ToolCall(call) => self.call(call),
        }
    }

    fn call(&self, call: &ToolCall) -> u64 {
        let arguments = match &call.malformed {
            Some(text) => self.text(text),
            None => self.json(&call.arguments),
        };
        CALL_TOKENS + self.text(call.id.as_str()) + self.text(call.name.as_str()) + arguments
    }

    /// The tokens of one message.
    pub fn message(&self, message: &Message) -> u64 {
        let head = match message {
            Message::User(_) | Message::Assistant(_) => MESSAGE_TOKENS,
            Message::ToolResult(result) => CALL_TOKENS + self.text(result.tool_call_id.as_str()),
        };
        head + message.content().iter().map(|block| self.block(block)).sum::<u64>()
    }

    /// The tokens of one conversation entry: 0 for entries that are never sent to a model.
    pub fn entry(&self, entry: &AgentMessage) -> u64 {
        match entry.as_llm() {
            None => 0,
            Some(Message::Assistant(answer))
                if answer.stop_reason == StopReason::Error || answer.content.is_empty() =>
            {
                0
            }
            Some(message) => self.message(message),
        }
    }

    /// The tokens of the definition of one tool.
    pub fn tool(&self, tool: &ToolDefinition) -> u64 {
        let texts = self.text(tool.name.as_str()) + self.text(&tool.description);
        TOOL_TOKENS + texts + self.json(&tool.parameters)
    }

    /// The tokens of all definitions, including the service's overhead.
    pub fn tools(&self, tools: &[ToolDefinition]) -> u64 {
        let before = if tools.is_empty() { 0 } else { self.family.tools_tokens };
        before + tools.iter().map(|tool| self.tool(tool)).sum::<u64>()
    }

    /// The tokens of a system prompt.
    pub fn system(&self, system: &SystemPrompt) -> u64 {
        system.sections().map(|section| self.text(&section.text) + 1).sum()
    }

    /// The tokens of a request besides its messages. Usually the same for all requests of a run, so count it once.
    pub fn frame(&self, request: &Request) -> u64 {
        let schema = request.output_schema.as_ref().map_or(0, |output| self.json(&output.schema));
        self.system(&request.system) + self.tools(&request.tools) + schema
    }

    /// The tokens of a whole request, message by message. For single requests; a run uses [`super::MessageCounts`].
    pub fn request(&self, request: &Request) -> u64 {
        let messages: u64 = request.messages.for_model().map(|message| self.message(message)).sum();
        self.frame(request) + messages
    }
}

/// A rough estimate for bytes that are not text: four bytes per token.
pub fn flat_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(FLAT_BYTES)
}

/// The tokens of the messages of one conversation, as running sums: any range costs two lookups.
///
/// A conversation only grows, so counts stay valid; [`MessageCounts::follow`] counts new messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// The tokens up to and with each message.
    sums: Vec<u64>,
}

impl MessageCounts {
    /// Counts the new messages of `history`. If it is shorter than before, later counts are dropped.
    pub fn follow(&mut self, history: &History, counter: &TokenCounter) {
        self.sums.truncate(history.len());
        for index in self.sums.len()..history.len() {
            let tokens = history.get(index).map_or(0, |message| counter.entry(message));
            self.push(tokens);
        }
    }

    /// Adds a message of so many tokens.
    pub fn push(&mut self, tokens: u64) {
        self.sums.push(self.total().saturating_add(tokens));
    }

    /// How many messages are counted.
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// The tokens of all messages.
    pub fn total(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// The tokens of the messages in `range`; missing messages count 0.
    pub fn range(&self, range: Range<usize>) -> u64 {
        self.upto(range.end).saturating_sub(self.upto(range.start))
    }

    /// The tokens of the message at `index`.
    pub fn at(&self, index: usize) -> u64 {
        self.range(index..index.saturating_add(1))
    }

    /// The tokens of the first `len` messages.
    fn upto(&self, len: usize) -> u64 {
        let Some(last) = len.min(self.sums.len()).checked_sub(1) else { return 0 };
        self.sums.get(last).copied().unwrap_or(0)
    }
}
