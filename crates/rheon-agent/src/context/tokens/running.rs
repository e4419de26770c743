//! `MessageCounts`: the tokens of each message of a growing conversation, counted once.

use std::ops::Range;

use rheon_types::History;

use super::counter::TokenCounter;

/// The tokens of the messages of one conversation, as running sums: any stretch of it costs two look-ups.
///
/// A conversation only grows, so what was counted stays counted; [`MessageCounts::follow`] counts what is new.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// The tokens up to and with each message.
    sums: Vec<u64>,
}

impl MessageCounts {
    /// Counts the messages of `history` that are not counted yet. If it is shorter than before, what is beyond is forgotten.
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

    /// The tokens of the messages in `range`; messages that do not exist have none.
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
