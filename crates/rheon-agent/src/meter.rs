//! `PromptMeter`: measures the prompt of a run as it grows. Pure.

use std::collections::HashMap;
use std::ptr::from_ref;
use std::sync::Arc;

use rheon_types::{AgentMessage, Content, History, Request, Usage};

use crate::context::{ContextTracker, MessageCounts, Overflow, TokenCounter};
use crate::conversation::Conversation;

/// Where token counts come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CountSource {
    /// Estimates, and the service's own count if it could change a decision.
    #[default]
    Estimate,
    /// Always the provider, which reads them from a log. A log does not contain the tools and the system prompt, so
    /// they cannot be estimated again.
    Provider,
}

/// Measures the prompt. Each message is counted once, and the parts shared by all requests of a run are counted once
/// per run.
///
/// Every `size` is an uncorrected estimate; `tokens` are what the service is expected to count.
#[derive(Debug, Default)]
pub(crate) struct PromptMeter {
    /// The model whose window size is learned.
    model: Arc<str>,
    counter: TokenCounter,
    tracker: ContextTracker,
    source: CountSource,
    /// The sizes of the messages of the conversation.
    counts: MessageCounts,
    /// The last counted message. A conversation with it at the same index starts with what was counted.
    last: Option<Arc<AgentMessage>>,
    /// The size of the visible conversation.
    window: u64,
    /// The size of the parts shared by all requests: system prompt, tools, output schema.
    frame: u64,
    /// The size of the current request's reminder.
    reminder: u64,
    /// The tokens of the prompt at the last measurement.
    tokens: u64,
    /// The tokens of the prompt's beginning that the service has in its cache since the last answer of this run.
    cached: u64,
}

impl PromptMeter {
    /// Starts a run with `conversation` and `frame`, the parts shared by all requests. What was learned about the model
    /// stays.
    pub(crate) fn begin(&mut self, frame: &Request, conversation: &Conversation) {
        let counter = TokenCounter::for_model(&frame.model);
        if counter != self.counter {
            *self = Self { counter, source: self.source, ..Self::default() };
        }
        // Models with the same vocabulary count alike, but their windows differ.
        let learned = self.tracker.learned_window().filter(|_| frame.model == self.model);
        self.tracker.begin_run(learned);
        self.model = Arc::clone(&frame.model);
        self.frame = counter.frame(frame);
        self.reminder = 0;
        // A replay starts every run without a report, too.
        self.cached = 0;
        self.recut(conversation);
    }

    /// Replaces the parts shared by all requests.
    pub(crate) fn reframe(&mut self, frame: &Request) {
        self.frame = self.counter.frame(frame);
        self.tracker.rewritten();
    }

    /// Prepares for a replay: the provider has all counts, and `learned_window` was learned by earlier runs.
    pub(crate) fn replay(&mut self, frame: &Request, learned_window: Option<u64>) {
        // The learned window belongs to the model that the run starts with.
        *self = Self {
            model: Arc::clone(&frame.model),
            counter: TokenCounter::for_model(&frame.model),
            source: CountSource::Provider,
            ..Self::default()
        };
        self.tracker.begin_run(learned_window);
    }

    pub(crate) fn source(&self) -> CountSource {
        self.source
    }

    pub(crate) fn counter(&self) -> TokenCounter {
        self.counter
    }

    /// What is known about the service's counting.
    pub(crate) fn tracker(&self) -> &ContextTracker {
        &self.tracker
    }

    /// Counts new messages. The cuts must be unchanged.
    pub(crate) fn follow(&mut self, conversation: &Conversation) {
        let before = self.counts.total();
        self.count(conversation.history());
        self.window = self.window.saturating_add(self.counts.total().saturating_sub(before));
    }

    /// Counts the window again after the cuts or the conversation changed. Only messages created by cuts are scanned.
    pub(crate) fn recut(&mut self, conversation: &Conversation) {
        let history = conversation.history();
        let counted = self.counts.len().checked_sub(1).and_then(|index| history.get(index));
        let is_same = match (counted, &self.last) {
            (Some(counted), Some(last)) => Arc::ptr_eq(counted, last),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !is_same {
            self.counts = MessageCounts::default();
            self.last = None;
            self.tracker.rewritten();
        }
        self.count(history);
        self.window = if conversation.cuts().is_empty() {
            self.counts.total()
        } else {
            let sizes = self.sizes(history);
            conversation.window().iter().map(|message| sizes.of(message)).sum()
        };
    }

    fn count(&mut self, history: &History) {
        self.counts.follow(history, &self.counter);
        self.last = history.last().cloned();
    }

    /// The sizes of the messages of `history`, all of which are already counted.
    pub(crate) fn sizes(&self, history: &History) -> Sizes {
        let entry = |(index, message): (usize, &Arc<AgentMessage>)| (address(message), self.counts.at(index));
        Sizes { counter: self.counter, known: history.iter().enumerate().map(entry).collect() }
    }

    /// The prompt was rewritten, so the last report no longer applies.
    pub(crate) fn rewritten(&mut self, conversation: &Conversation) {
        self.tracker.rewritten();
        self.cached = 0;
        self.recut(conversation);
    }

    /// Sets the reminder of the current request.
    pub(crate) fn remind(&mut self, reminder: Option<&str>) {
        self.reminder = reminder.map_or(0, |text| self.counter.text(text));
    }

    /// The size of the whole prompt.
    pub(crate) fn size(&self) -> u64 {
        self.beside().saturating_add(self.window)
    }

    /// The size of everything besides the conversation.
    pub(crate) fn beside(&self) -> u64 {
        self.frame.saturating_add(self.reminder)
    }

    /// The tokens of the prompt at the last measurement.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The estimated tokens of the prompt.
    pub(crate) fn estimate(&self) -> u64 {
        self.tracker.tokens(self.size())
    }

    /// Records the tokens of the prompt, estimated or counted.
    pub(crate) fn measured(&mut self, tokens: u64) {
        self.tokens = tokens;
    }

    /// Records the service's count. Returns it if it is plausible.
    pub(crate) fn counted(&mut self, tokens: u64) -> Option<u64> {
        let size = self.size();
        self.tracker.counted(size, tokens);
        ContextTracker::is_plausible(size, tokens).then_some(tokens)
    }

    /// Records that the service cannot count prompts.
    pub(crate) fn cannot_count(&mut self) {
        self.tracker.cannot_count();
    }

    /// Records the usage reported for the prompt.
    pub(crate) fn reported(&mut self, usage: &Usage) {
        self.tracker.reported(self.size(), usage);
        self.cached = usage.cache_read.saturating_add(usage.cache_write);
    }

    /// How many tokens of the prompt the service is expected to read from its cache.
    pub(crate) fn cached_tokens(&self) -> u64 {
        self.cached.min(self.tokens)
    }

    /// The likely usage of an attempt that wrote this and reported none.
    pub(crate) fn likely_usage(&self, content: &[Content]) -> Usage {
        let cache_read = self.cached_tokens();
        let input = self.tokens.saturating_sub(cache_read);
        Usage { input, cache_read, output: self.written(content), ..Usage::default() }
    }

    /// Records that the service rejected the prompt as too long.
    pub(crate) fn overflowed(&mut self, declared_tokens: u64) -> Overflow {
        self.tracker.overflowed(self.tokens, declared_tokens)
    }

    /// The size of an answer whose usage is not reported. Uncorrected, because a replay cannot learn corrections.
    pub(crate) fn written(&self, content: &[Content]) -> u64 {
        content.iter().map(|block| self.counter.block(block)).sum()
    }
}

/// The sizes of messages: known for messages of the conversation, counted on demand for others.
pub(crate) struct Sizes {
    counter: TokenCounter,
    /// By address. The messages belong to a conversation that outlives this, so addresses are unique.
    known: HashMap<usize, u64>,
}

impl Sizes {
    pub(crate) fn of(&self, message: &AgentMessage) -> u64 {
        let known = self.known.get(&from_ref(message).addr());
        known.copied().unwrap_or_else(|| self.counter.entry(message))
    }
}

fn address(message: &Arc<AgentMessage>) -> usize {
    from_ref::<AgentMessage>(message).addr()
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
