//! `Estimator`: estimates the tokens of a prompt from its size and from what the service reported for earlier prompts.
//! Pure.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::{Content, Message, Request, ToolDefinition, Usage};
use serde_json::Value;

/// Bytes per four tokens for a mix of text, code and JSON; an estimate on the low side.
const BYTES_OF_FOUR_TOKENS: u64 = 14;
/// The typical cost of an image.
const IMAGE_TOKENS: u64 = 1_500;
/// Overhead of a message, a block or a tool.
const FRAME_TOKENS: u64 = 4;
/// The maximum number of models to remember.
const MODELS_MAX: usize = 64;
/// Smaller prompts are ignored: the overhead dominates.
const SIZE_MIN: u64 = 200;
/// Reports that differ from the size by more than this factor are ignored.
const RATIO_MAX: u64 = 8;
/// The fixed-point representation of 1.
const ONE: u64 = 1 << 16;
/// The weight of one report is one in this many.
const INERTIA: u64 = 4;

/// Estimates the tokens of prompts, and corrects itself for each model from reported usage.
#[derive(Debug, Default)]
pub(crate) struct Estimator {
    /// The moving ratio of reported tokens to [`Estimator::size`], by model, in units of [`ONE`].
    ratios: Mutex<HashMap<Arc<str>, u64>>,
}

impl Estimator {
    /// The estimated tokens of the prompt of `request`.
    pub(crate) fn estimate(&self, request: &Request) -> u64 {
        self.calibrated(&request.model, self.size(request))
    }

    /// Applies the learned ratio of `model` to `size`.
    pub(crate) fn calibrated(&self, model: &str, size: u64) -> u64 {
        let ratio = self.lock().get(model).copied().unwrap_or(ONE);
        let tokens = (u128::from(size) * u128::from(ratio)).div_ceil(u128::from(ONE));
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }

    /// The uncorrected size of a prompt in tokens. It is the sum of its parts, so that a caller can update it
    /// incrementally.
    pub(crate) fn size(&self, request: &Request) -> u64 {
        let system: u64 = request.system.sections().map(|section| text_tokens(section.text.len())).sum();
        let tools: u64 = request.tools.iter().map(tool_size).sum();
        let messages: u64 = request.messages.for_model().map(message_size).sum();
        let schema =
            request.output_schema.as_ref().map_or(0, |output| text_tokens(json_bytes(&output.schema)));
        let reminder = request.reminder.as_ref().map_or(0, |reminder| text_tokens(reminder.len()));
        system + tools + messages + schema + reminder
    }

    /// Learns from the usage that a service reported for a prompt of this size. Implausible reports are ignored.
    pub(crate) fn learn(&self, model: &Arc<str>, size: u64, usage: &Usage) {
        let reported = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        if size < SIZE_MIN || reported < size / RATIO_MAX || reported > size.saturating_mul(RATIO_MAX) {
            return;
        }
        let seen = u128::from(reported) * u128::from(ONE) / u128::from(size);
        let seen = u64::try_from(seen).unwrap_or(ONE);
        let mut ratios = self.lock();
        if let Some(ratio) = ratios.get_mut(model) {
            *ratio = (*ratio * (INERTIA - 1) + seen) / INERTIA;
            return;
        }
        // This many models are not used at once; starting over costs a few calls with rougher estimates.
        if ratios.len() >= MODELS_MAX {
            ratios.clear();
        }
        ratios.insert(Arc::clone(model), seen);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, u64>> {
        self.ratios.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn message_size(message: &Message) -> u64 {
    let content = match message {
        Message::User(user) => &user.content,
        Message::Assistant(answer) => &answer.content,
        Message::ToolResult(result) => &result.content,
    };
    FRAME_TOKENS + content.iter().map(content_size).sum::<u64>()
}

fn content_size(content: &Content) -> u64 {
    match content {
        Content::Text { text } => text_tokens(text.len()),
        Content::Image { .. } => IMAGE_TOKENS,
        Content::Thinking { thinking, .. } => text_tokens(thinking.len()),
        Content::ToolCall(call) => {
            FRAME_TOKENS + text_tokens(call.name.as_str().len() + json_bytes(&call.arguments))
        }
    }
}

fn tool_size(tool: &ToolDefinition) -> u64 {
    let bytes = tool.name.as_str().len() + tool.description.len() + json_bytes(&tool.parameters);
    FRAME_TOKENS + text_tokens(bytes)
}

fn text_tokens(bytes: usize) -> u64 {
    (bytes as u64).saturating_mul(4).div_ceil(BYTES_OF_FOUR_TOKENS)
}

/// The length of `value` as JSON, without serializing it.
fn json_bytes(value: &Value) -> usize {
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) | Err(_) => counter.0,
    }
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
