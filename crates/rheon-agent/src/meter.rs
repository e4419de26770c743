//! `PromptMeter`: how long the prompt of a run is, counted as it grows. Pure.

use std::collections::HashMap;
use std::ptr::from_ref;
use std::sync::Arc;

use rheon_types::{AgentMessage, Content, History, Request, Usage};

use crate::context::{ContextTracker, MessageCounts, Overflow, TokenCounter};
use crate::conversation::Conversation;

/// Where the figures come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CountSource {
    /// The estimate, and the service's own count where it may change a decision.
    #[default]
    Estimate,
    /// Always the provider, which has them from a log. What a log does not have, such as the tools and the system prompt,
    /// cannot be estimated again.
    Provider,
}

/// How long the prompt is. Each message is counted once, whatever the length of the conversation, and what all requests of
/// a run share is counted once per run.
///
/// Its `size`s are estimates before any correction; its `tokens` are what the service is thought to count.
#[derive(Debug, Default)]
pub(crate) struct PromptMeter {
    /// The model whose window is learnt.
    model: Arc<str>,
    counter: TokenCounter,
    tracker: ContextTracker,
    by: CountSource,
    /// The sizes of the messages of the conversation.
    counts: MessageCounts,
    /// The last message that was counted: a conversation that has it in its place begins with what was counted.
    last: Option<Arc<AgentMessage>>,
    /// The size of what the window shows of the conversation.
    window: u64,
    /// The size of what all requests of the run say besides: system prompt, tools, output schema.
    frame: u64,
    /// The size of what the request under way is reminded of.
    reminder: u64,
    /// The tokens of the prompt, when it was last measured.
    tokens: u64,
}

impl PromptMeter {
    /// Goes on with `conversation` in a run whose requests all say `frame`. What it learnt of the model stays.
    pub(crate) fn begin(&mut self, frame: &Request, conversation: &Conversation) {
        let counter = TokenCounter::for_model(&frame.model);
        if counter != self.counter {
            *self = Self { counter, by: self.by, ..Self::default() };
        }
        // How services count is alike for models of one vocabulary; how much they take is not.
        let learnt = self.tracker.learned_window().filter(|_| frame.model == self.model);
        self.tracker.begin_run(learnt);
        self.model = Arc::clone(&frame.model);
        self.frame = counter.frame(frame);
        self.reminder = 0;
        self.recut(conversation);
    }

    /// The requests of the run say another `frame` from here on.
    pub(crate) fn reframe(&mut self, frame: &Request) {
        self.frame = self.counter.frame(frame);
        self.tracker.rewritten();
    }

    /// Goes on as in a log: the provider has all the figures, and earlier runs have learnt this of the window.
    pub(crate) fn replay(&mut self, frame: &Request, learned_window: Option<u64>) {
        // What was learnt holds for the model that the run is about to begin with.
        *self = Self {
            model: Arc::clone(&frame.model),
            counter: TokenCounter::for_model(&frame.model),
            by: CountSource::Provider,
            ..Self::default()
        };
        self.tracker.begin_run(learned_window);
    }

    /// Who counts.
    pub(crate) fn by(&self) -> CountSource {
        self.by
    }

    pub(crate) fn counter(&self) -> TokenCounter {
        self.counter
    }

    /// What is known of the way in which the service counts.
    pub(crate) fn tracker(&self) -> &ContextTracker {
        &self.tracker
    }

    /// Counts the messages that came since. The cuts are those of before.
    pub(crate) fn follow(&mut self, conversation: &Conversation) {
        let before = self.counts.total();
        self.count(conversation.history());
        self.window = self.window.saturating_add(self.counts.total().saturating_sub(before));
    }

    /// Counts the window anew, after other cuts were laid over the conversation or it became another one. Only what the cuts
    /// made is looked at.
    pub(crate) fn recut(&mut self, conversation: &Conversation) {
        let history = conversation.history();
        let counted = self.counts.len().checked_sub(1).and_then(|place| history.get(place));
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

    /// The sizes of the messages of `history`, which are all counted, without counting them again.
    pub(crate) fn sizes(&self, history: &History) -> Sizes {
        let place = |(index, message): (usize, &Arc<AgentMessage>)| (address(message), self.counts.at(index));
        Sizes { counter: self.counter, known: history.iter().enumerate().map(place).collect() }
    }

    /// The prompt was made another one: what was reported of it does not hold for the next.
    pub(crate) fn rewritten(&mut self, conversation: &Conversation) {
        self.tracker.rewritten();
        self.recut(conversation);
    }

    /// What the request under way is reminded of.
    pub(crate) fn remind(&mut self, reminder: Option<&str>) {
        self.reminder = reminder.map_or(0, |text| self.counter.text(text));
    }

    /// The size of the whole prompt.
    pub(crate) fn size(&self) -> u64 {
        self.beside().saturating_add(self.window)
    }

    /// The size of all that is no message of the conversation.
    pub(crate) fn beside(&self) -> u64 {
        self.frame.saturating_add(self.reminder)
    }

    /// The tokens of the prompt, when it was last measured.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How many tokens the prompt probably has.
    pub(crate) fn estimate(&self) -> u64 {
        self.tracker.tokens(self.size())
    }

    /// The prompt has so many tokens, by an estimate or by a count.
    pub(crate) fn measured(&mut self, tokens: u64) {
        self.tokens = tokens;
    }

    /// The service says that the prompt has so many tokens. Returns them where that can be true.
    pub(crate) fn counted(&mut self, tokens: u64) -> Option<u64> {
        let size = self.size();
        self.tracker.counted(size, tokens);
        ContextTracker::is_plausible(size, tokens).then_some(tokens)
    }

    /// The service does not count prompts.
    pub(crate) fn cannot_count(&mut self) {
        self.tracker.cannot_count();
    }

    /// The service took the prompt and reported this.
    pub(crate) fn reported(&mut self, usage: &Usage) {
        self.tracker.reported(self.size(), usage);
    }

    /// The service refused the prompt as too long.
    pub(crate) fn overflowed(&mut self, declared_tokens: u64) -> Overflow {
        self.tracker.overflowed(self.tokens, declared_tokens)
    }

    /// The size of an answer, for where nobody reports on it. Without what was learnt from reports, which a replay cannot
    /// learn again.
    pub(crate) fn written(&self, content: &[Content]) -> u64 {
        content.iter().map(|block| self.counter.block(block)).sum()
    }
}

/// The sizes of messages: those of a conversation are known, others are counted when they are asked for.
pub(crate) struct Sizes {
    counter: TokenCounter,
    /// By address. All of them belong to a conversation that outlives this, so no other message can stand there.
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
