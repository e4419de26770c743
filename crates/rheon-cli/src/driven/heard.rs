//! What the program that drives us says, line by line, and what it calls it.

use std::collections::HashMap;
use std::io::{self, Read as _};

use rheon_app::stream_json::{InputError, InputLine, InputLines};
use rheon_types::{AgentEvent, Author, Content, Event, Message, MessageEvent};
use tokio::sync::mpsc;

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

/// What can be read: a line, or why there is none.
pub(super) type Line = Result<InputLine, InputError>;

/// Begins to read standard input. The thread ends with the input, or with the program.
pub(super) fn of_stdin() -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::spawn(move || {
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
    });
    receiver
}

#[cfg(test)]
#[path = "heard_tests.rs"]
mod tests;
