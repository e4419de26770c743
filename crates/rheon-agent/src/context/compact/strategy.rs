//! `CompactionStrategy`: how a context window is shortened, and the prompt for summaries.

use std::borrow::Cow;

use rheon_types::event::TaskItem;
use rheon_types::{AgentMessage, Answer, BoxFuture, History, ProviderError, WindowCut, window};

/// A conversation to compact.
#[derive(Clone, Copy)]
pub struct WindowView<'a> {
    /// The whole conversation.
    pub history: &'a History,
    /// The existing cuts.
    pub cuts: &'a [WindowCut],
    /// The target size of the window's messages in tokens, as measured by `count`.
    pub tokens_target: u64,
    /// The size that the messages must not exceed. Only beyond it is anything dropped that no summary tells of.
    pub tokens_max: u64,
    /// Counts the tokens of a message. Cheap for messages of the conversation.
    pub count: &'a (dyn Fn(&AgentMessage) -> u64 + Sync),
    /// The task list.
    pub tasks: &'a [TaskItem],
    /// What the summary should keep, if the user said so.
    pub instructions: Option<&'a str>,
}

impl WindowView<'_> {
    /// The window's tokens with `cuts` applied.
    pub fn tokens_with(&self, cuts: &[WindowCut]) -> u64 {
        window(self.history, cuts).iter().map(|message| (self.count)(message)).sum()
    }
}

/// A model that writes summaries.
pub trait Summarizer: Send + Sync {
    /// Summarizes `messages`.
    fn summarize<'a>(
        &'a self,
        messages: &'a History,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ProviderError>>;
}

/// Shortens context windows. The returned cuts replace the existing ones.
pub trait CompactionStrategy: Send + Sync {
    /// The name used in reports.
    fn name(&self) -> &str;

    /// Returns cuts that make the window short enough, or as short as possible. Must never separate a tool call from
    /// its result.
    fn compact<'a>(&'a self, view: WindowView<'a>, model: &'a dyn Summarizer) -> Answer<'a, Vec<WindowCut>>;
}

/// The prompt for a summary: text only, in a fixed structure.
const PROMPT: &str = include_str!("summary.md");
/// The heading before the user's instructions.
const INSTRUCTIONS: &str = "\n## Instructions from the user\n";

/// The prompt for a summary, with the user's instructions.
pub fn summary_prompt(instructions: Option<&str>) -> Cow<'static, str> {
    match instructions.map(str::trim).filter(|text| !text.is_empty()) {
        None => Cow::Borrowed(PROMPT),
        Some(text) => Cow::Owned(format!("{PROMPT}{INSTRUCTIONS}{text}\n")),
    }
}
