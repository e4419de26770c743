//! `Conversation`: the messages so far, and what of them the model sees.

use std::sync::Arc;

use rheon_types::{AgentMessage, History, Timestamp, WindowCut, window};
use serde::{Deserialize, Serialize};

use crate::context::repair_calls;

/// The messages so far, whole, and what of them the model sees.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Conversation {
    /// The messages.
    history: History,
    /// What lies over them.
    cuts: Vec<WindowCut>,
    /// What the model sees; the messages themselves where nothing lies over them.
    window: History,
}

impl Conversation {
    /// A conversation from outside over which cuts lie, repaired where calls lack results. Cuts count messages, so they hold
    /// only where nothing had to be repaired; without them the window is whole, and becomes shorter when it has to.
    pub(crate) fn repaired(history: &History, cuts: Vec<WindowCut>, now: Timestamp) -> Self {
        let repaired = repair_calls(history, now);
        let cuts = if repaired.len() == history.len() { cuts } else { Vec::new() };
        Self::new(repaired, cuts)
    }

    /// A conversation over which cuts lie.
    pub(crate) fn new(history: History, cuts: Vec<WindowCut>) -> Self {
        let window = window(&history, &cuts);
        Self { history, cuts, window }
    }

    /// The messages, whole.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// What the model sees.
    pub(crate) fn window(&self) -> &History {
        &self.window
    }

    /// What lies over the messages.
    pub(crate) fn cuts(&self) -> &[WindowCut] {
        &self.cuts
    }

    /// Adds a message.
    pub(crate) fn push(&mut self, message: Arc<AgentMessage>) {
        if self.cuts.is_empty() {
            self.history.push(message);
            self.window = self.history.clone();
        } else {
            self.window.push(Arc::clone(&message));
            self.history.push(message);
        }
    }

    /// Lays other cuts over the messages.
    pub(crate) fn cut(&mut self, cuts: Vec<WindowCut>) {
        *self = Self::new(std::mem::take(&mut self.history), cuts);
    }

    /// The conversation as it was after its first `len` messages. Cuts that end later are forgotten.
    pub(crate) fn prefix(&self, len: usize) -> Self {
        let end = len as u64;
        let cuts = self.cuts.iter().filter(|cut| cut.to <= end).cloned().collect();
        Self::new(self.history.prefix(len), cuts)
    }
}

impl From<History> for Conversation {
    fn from(history: History) -> Self {
        Self::new(history, Vec::new())
    }
}
