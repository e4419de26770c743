//! `HookMessage`: messages to the user about hooks.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rheon_policy::excerpt;
use rheon_policy::hooks::HookEvent;
use rheon_text::visible;

/// A message to the user about a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookMessage {
    pub kind: HookMessageKind,
    pub event: HookEvent,
    pub command: String,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMessageKind {
    /// Text from the hook itself.
    Output,
    /// The hook failed.
    Failure,
}

impl fmt::Display for HookMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            HookMessageKind::Output => {
                // A hook's text may have several lines, but no terminal control sequences.
                let lines: Vec<String> = self.text.lines().map(visible).collect();
                write!(f, "{} hook: {}", self.event, lines.join("\n"))
            }
            HookMessageKind::Failure => write!(f, "the {} hook {:?} {}", self.event, self.command, self.text),
        }
    }
}

type Listener = dyn Fn(&HookMessage) + Send + Sync;

/// The most commands remembered as unable to start.
const REMEMBERED_MAX: usize = 1_000;

/// Delivers messages to the user.
#[derive(Clone, Default)]
pub(crate) struct Reporter {
    listener: Option<Arc<Listener>>,
    reported: Arc<Mutex<HashSet<String>>>,
}

impl Reporter {
    pub(crate) fn new(listener: Arc<Listener>) -> Self {
        Self { listener: Some(listener), reported: Arc::default() }
    }

    pub(crate) fn report(&self, message: &HookMessage) {
        if let Some(listener) = &self.listener {
            listener(message);
        }
    }

    /// Reports a command that cannot be started, but only once.
    pub(crate) fn report_once(&self, message: &HookMessage) {
        let is_new = {
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
            reported.len() < REMEMBERED_MAX && reported.insert(message.command.clone())
        };
        if is_new {
            self.report(message);
        }
    }
}

/// The start of an output, for use in a sentence.
pub(crate) fn first_words(text: &str) -> String {
    excerpt(text.trim())
}
