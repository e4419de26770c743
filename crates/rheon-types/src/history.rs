//! `History`: the messages of a conversation, append-only and shared.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::ToolCallId;
use crate::message::{AgentMessage, Message};
use crate::stop::StopReason;

/// An append-only list of messages.
///
/// Clones share one buffer and each sees its own length of it, so cloning and pushing are O(1). Only a push onto a
/// clone that another clone has outgrown copies the (pointers of the) prefix.
#[derive(Clone, Default)]
pub struct History {
    buffer: Arc<boxcar::Vec<Arc<AgentMessage>>>,
    len: usize,
}

impl History {
    /// An empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one message.
    pub fn push(&mut self, message: Arc<AgentMessage>) {
        if self.buffer.count() == self.len && self.buffer.push(Arc::clone(&message)) == self.len {
            self.len += 1;
            return;
        }
        // A clone has already appended to the shared buffer, so copy the prefix into a new one.
        let own = boxcar::Vec::with_capacity(self.len + 1);
        for earlier in self.iter() {
            own.push(Arc::clone(earlier));
        }
        own.push(message);
        self.buffer = Arc::new(own);
        self.len += 1;
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the history is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The message at `index`.
    pub fn get(&self, index: usize) -> Option<&Arc<AgentMessage>> {
        if index < self.len { self.buffer.get(index) } else { None }
    }

    /// The last message.
    pub fn last(&self) -> Option<&Arc<AgentMessage>> {
        self.get(self.len.checked_sub(1)?)
    }

    /// All messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<AgentMessage>> {
        (0..self.len).filter_map(|index| self.buffer.get(index))
    }

    /// The messages sent to a model: without extensions, without answers that ended in an error (they are incomplete
    /// and their tool calls never ran), and without empty answers, which services reject.
    pub fn for_model(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.iter().filter_map(|message| message.as_llm()).filter(|message| match message {
            Message::Assistant(assistant) => {
                assistant.stop_reason != StopReason::Error && !assistant.content.is_empty()
            }
            Message::User(_) | Message::ToolResult(_) => true,
        })
    }

    /// The first `len` messages, sharing this history's buffer.
    pub fn prefix(&self, len: usize) -> Self {
        Self { buffer: Arc::clone(&self.buffer), len: len.min(self.len) }
    }
}

/// The ids of tool calls in `history` without a result right after them.
pub fn unanswered_calls(history: &History) -> Vec<ToolCallId> {
    let mut due: Vec<ToolCallId> = Vec::new();
    let mut answered: HashSet<&ToolCallId> = HashSet::new();
    let mut unanswered = Vec::new();
    for message in history.for_model() {
        match message {
            Message::ToolResult(result) => drop(answered.insert(&result.tool_call_id)),
            Message::User(_) => unanswered.extend(due.drain(..).filter(|id| !answered.contains(id))),
            Message::Assistant(assistant) => {
                unanswered.extend(due.drain(..).filter(|id| !answered.contains(id)));
                answered.clear();
                due.extend(assistant.tool_calls().map(|call| call.id.clone()));
            }
        }
    }
    unanswered.extend(due.into_iter().filter(|id| !answered.contains(id)));
    unanswered
}

impl FromIterator<Arc<AgentMessage>> for History {
    fn from_iter<I: IntoIterator<Item = Arc<AgentMessage>>>(messages: I) -> Self {
        let mut history = Self::new();
        history.extend(messages);
        history
    }
}

impl Extend<Arc<AgentMessage>> for History {
    fn extend<I: IntoIterator<Item = Arc<AgentMessage>>>(&mut self, messages: I) {
        for message in messages {
            self.push(message);
        }
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Arc<AgentMessage>>::deserialize(deserializer).map(|messages| messages.into_iter().collect())
    }
}
