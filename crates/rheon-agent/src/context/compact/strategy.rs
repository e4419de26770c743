//! `CompactionStrategy`: how a window is made shorter, and how a model is asked for a summary of it.

use std::borrow::Cow;

use rheon_types::event::TaskItem;
use rheon_types::{AgentMessage, Answer, BoxFuture, History, ProviderError, WindowCut, window};

/// A conversation whose window is to be made shorter.
#[derive(Clone, Copy)]
pub struct WindowView<'a> {
    /// The conversation, whole.
    pub history: &'a History,
    /// What lies over it already.
    pub cuts: &'a [WindowCut],
    /// How many tokens the messages of the window may have afterwards, as `count` counts them.
    pub tokens_target: u64,
    /// How many tokens a message has. Costs next to nothing for messages of the conversation.
    pub count: &'a (dyn Fn(&AgentMessage) -> u64 + Sync),
    /// The task list.
    pub tasks: &'a [TaskItem],
    /// What the user wants the summary to keep, where they asked for it.
    pub instructions: Option<&'a str>,
}

impl WindowView<'_> {
    /// How many tokens the window has where `cuts` lie over the conversation.
    pub fn tokens_with(&self, cuts: &[WindowCut]) -> u64 {
        window(self.history, cuts).iter().map(|message| (self.count)(message)).sum()
    }
}

/// A model that writes summaries.
pub trait Summarizer: Send + Sync {
    /// What happened in `messages`, in words.
    fn summarize<'a>(
        &'a self,
        messages: &'a History,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ProviderError>>;
}

/// Makes windows shorter. What it returns lies over the conversation from then on, in place of what lay over it before.
pub trait CompactionStrategy: Send + Sync {
    /// The name under which it is reported.
    fn name(&self) -> &str;

    /// The cuts that make the window short enough, or as short as it gets. Must never part a tool call from its result.
    fn compact<'a>(&'a self, view: WindowView<'a>, model: &'a dyn Summarizer) -> Answer<'a, Vec<WindowCut>>;
}

/// What a good hand-over holds, and that it is text only.
const PROMPT: &str = include_str!("summary.md");
/// What leads the user's own wishes.
const WISHES: &str = "\n## What the user wants of this summary\n";

/// The request for a summary, with what the user wants kept or left out.
pub fn summary_prompt(instructions: Option<&str>) -> Cow<'static, str> {
    match instructions.map(str::trim).filter(|text| !text.is_empty()) {
        None => Cow::Borrowed(PROMPT),
        Some(text) => Cow::Owned(format!("{PROMPT}{WISHES}{text}\n")),
    }
}
