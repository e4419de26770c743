//! What the program that drives us calls what it says.

use std::collections::HashMap;

use rheon_types::{AgentEvent, Author, Content, Event, Message, MessageEvent};

/// How many names are remembered. What was said after that is known by the id of its line alone.
const NAMES_MAX: usize = 10_000;

/// Something that the program says.
pub(super) struct Said {
    pub(super) content: Vec<Content>,
    /// What it calls it.
    pub(super) uuid: Option<String>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { content: vec![Content::Text { text }], uuid: None }
    }
}

/// The program's own names of prompts, with the events that ended them.
#[derive(Default)]
pub(super) struct Names {
    /// The name of the prompt that the log has not got yet.
    next: Option<String>,
    known: HashMap<String, u64>,
}

impl Names {
    /// A prompt is about to be said.
    pub(super) fn begin(&mut self, uuid: Option<String>) {
        self.next = uuid;
    }

    pub(super) fn observe(&mut self, event: &Event) {
        let AgentEvent::Message(MessageEvent::End { message }) = &event.kind else { return };
        let is_prompt = matches!(message.as_llm(), Some(Message::User(user)) if user.author == Author::User);
        if is_prompt
            && let Some(uuid) = self.next.take()
            && self.known.len() < NAMES_MAX
        {
            self.known.insert(uuid, event.seq);
        }
    }

    /// The event that ended the prompt of this name.
    pub(super) fn seq(&self, uuid: &str) -> Option<u64> {
        self.known.get(uuid).copied()
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
