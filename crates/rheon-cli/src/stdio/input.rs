//! Input lines of the calling program, and its ids of prompts.

use std::collections::HashMap;
use std::io::{self, Read as _};

use rheon_app::stream_json::{InputError, InputLine, InputLines};
use rheon_types::{AgentEvent, Author, Content, Event, Message, MessageEvent};
use tokio::sync::mpsc;

use crate::runtime::start_thread;

/// How many ids are remembered. Later prompts are known only by the id of their line.
const NAMES_MAX: usize = 10_000;

pub(super) struct IncomingPrompt {
    pub(super) content: Vec<Content>,
    pub(super) uuid: Option<String>,
}

impl From<String> for IncomingPrompt {
    fn from(text: String) -> Self {
        Self { content: vec![Content::Text { text }], uuid: None }
    }
}

/// The program's ids of prompts, with the events of these prompts.
#[derive(Default)]
pub(super) struct PromptNames {
    /// The id of the prompt that is not in the log yet.
    next: Option<String>,
    known: HashMap<String, u64>,
}

impl PromptNames {
    /// Announces a prompt.
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

    /// The event of the prompt with this id.
    pub(super) fn seq(&self, uuid: &str) -> Option<u64> {
        self.known.get(uuid).copied()
    }
}

/// A line, or why it is invalid.
pub(super) type Line = Result<InputLine, InputError>;

/// Starts a thread that reads standard input until it or the program ends.
pub(super) fn of_stdin() -> io::Result<mpsc::Receiver<Line>> {
    let (sender, receiver) = mpsc::channel(64);
    start_thread("rheon-input", move || {
        let mut lines = InputLines::new();
        let mut stdin = io::stdin().lock();
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let read = match stdin.read(&mut bytes) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            for line in lines.push(bytes.get(..read).unwrap_or_default()) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        }
        if let Some(line) = lines.finish() {
            sender.blocking_send(line).ok();
        }
    })?;
    Ok(receiver)
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
