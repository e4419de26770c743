//! `HookMessage`: what the user is told about hooks.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rheon_policy::excerpt;
use rheon_policy::hooks::HookEvent;
use rheon_text::visible;

/// Something that the user is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookMessage {
    /// What kind of thing.
    pub kind: MessageKind,
    /// The event at which it came up.
    pub event: HookEvent,
    /// The command.
    pub command: String,
    /// The text.
    pub text: String,
}

/// What kind of thing the user is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// The hook's own words.
    Said,
    /// The hook did not do its work.
    Failed,
}

impl fmt::Display for HookMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            MessageKind::Said => {
                // A hook's own words may have lines, and nothing else that a terminal obeys.
                let lines: Vec<String> = self.text.lines().map(visible).collect();
                write!(f, "{} hook: {}", self.event, lines.join("\n"))
            }
            MessageKind::Failed => write!(f, "the {} hook {:?} {}", self.event, self.command, self.text),
        }
    }
}

type Listener = dyn Fn(&HookMessage) + Send + Sync;

/// How many different commands are remembered as unable to start.
const REMEMBERED_MAX: usize = 1_000;

/// Where messages go to.
#[derive(Clone, Default)]
pub(crate) struct Reporter {
    listener: Option<Arc<Listener>>,
    told: Arc<Mutex<HashSet<String>>>,
}

impl Reporter {
    pub(crate) fn new(listener: Arc<Listener>) -> Self {
        Self { listener: Some(listener), told: Arc::default() }
    }

    pub(crate) fn tell(&self, message: &HookMessage) {
        if let Some(listener) = &self.listener {
            listener(message);
        }
    }

    /// Tells of a command that cannot be started, once: it will not be there at the next call either.
    pub(crate) fn tell_once(&self, message: &HookMessage) {
        let is_new = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.len() < REMEMBERED_MAX && told.insert(message.command.clone())
        };
        if is_new {
            self.tell(message);
        }
    }
}

/// The first words of an output, for a sentence.
pub(crate) fn first_words(text: &str) -> String {
    excerpt(text.trim())
}
