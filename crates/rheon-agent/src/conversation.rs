//! `Conversation`: the messages so far and the model's view of them.

use std::sync::Arc;

use rheon_types::{AgentMessage, History, Timestamp, WindowCut, cuts_until, window};
use serde::{Deserialize, Serialize};

use crate::context::repair_calls;

/// All messages so far, and the model's view of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Conversation {
    history: History,
    cuts: Vec<WindowCut>,
    /// What the model sees; equal to `history` without cuts.
    window: History,
}

impl Conversation {
    /// An imported conversation with cuts, repaired if calls lack results. Cuts refer to message indices, so a repair
    /// invalidates them; without cuts the window is complete and is compacted when needed.
    pub(crate) fn repaired(history: &History, cuts: Vec<WindowCut>, now: Timestamp) -> Self {
        let repaired = repair_calls(history, now);
        let cuts = if repaired.len() == history.len() { cuts } else { Vec::new() };
        Self::new(repaired, cuts)
    }

    /// A conversation with cuts.
    pub(crate) fn new(history: History, cuts: Vec<WindowCut>) -> Self {
        let window = window(&history, &cuts);
        Self { history, cuts, window }
    }

    /// All messages.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// What the model sees.
    pub(crate) fn window(&self) -> &History {
        &self.window
    }

    pub(crate) fn cuts(&self) -> &[WindowCut] {
        &self.cuts
    }

    pub(crate) fn push(&mut self, message: Arc<AgentMessage>) {
        if self.cuts.is_empty() {
            self.history.push(message);
            self.window = self.history.clone();
        } else {
            self.window.push(Arc::clone(&message));
            self.history.push(message);
        }
    }

    /// Replaces the cuts.
    pub(crate) fn cut(&mut self, cuts: Vec<WindowCut>) {
        *self = Self::new(std::mem::take(&mut self.history), cuts);
    }

    /// The conversation after its first `len` messages, without the cuts that tell of later ones.
    pub(crate) fn prefix(&self, len: usize) -> Self {
        Self::new(self.history.prefix(len), cuts_until(&self.cuts, len as u64))
    }
}

impl From<History> for Conversation {
    fn from(history: History) -> Self {
        Self::new(history, Vec::new())
    }
}
