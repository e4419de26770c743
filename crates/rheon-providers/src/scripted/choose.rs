//! Conditions: which turn matches a request, and the message if none does. Pure.

use std::fmt;

use rheon_types::{History, Message, ToolName, ToolResultMessage};

/// How many unused turns the message describes.
const TURNS_SHOWN_MAX: usize = 5;

/// The maximum length of a quoted text.
const EXCERPT_CHARS_MAX: usize = 80;

/// What a request must satisfy for a turn to be played. All given parts must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) last_text_contains: Option<String>,
    /// This and the next two apply to the same tool result, one of those at the end of the request.
    pub(super) tool: Option<ToolName>,
    pub(super) tool_result_contains: Option<String>,
    pub(super) tool_result_is_error: Option<bool>,
    /// The number of the request, starting at 1.
    pub(super) request: Option<u64>,
}

impl Condition {
    /// Whether it holds for the request with this number and these messages.
    pub(super) fn holds(&self, number: u64, messages: &History) -> bool {
        self.request.is_none_or(|expected| expected == number)
            && self.last_text_contains.as_ref().is_none_or(|part| last_text(messages).contains(part))
            && (!self.has_result_condition()
                || trailing_results(messages).any(|(message, result)| self.fits_result(message, result)))
    }

    fn has_result_condition(&self) -> bool {
        self.tool.is_some() || self.tool_result_contains.is_some() || self.tool_result_is_error.is_some()
    }

    fn fits_result(&self, message: &Message, result: &ToolResultMessage) -> bool {
        self.tool.as_ref().is_none_or(|name| *name == result.tool_name)
            && self.tool_result_is_error.is_none_or(|expected| expected == result.is_error)
            && self.tool_result_contains.as_ref().is_none_or(|part| message.text().contains(part))
    }
}

/// Completes the phrase "turn 2 needs".
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut conditions = Vec::new();
        if let Some(number) = self.request {
            conditions.push(format!("request {number}"));
        }
        if let Some(part) = &self.last_text_contains {
            conditions.push(format!("a last message with {}", excerpt(part)));
        }
        if self.has_result_condition() {
            let mut result = match self.tool_result_is_error {
                Some(true) => "a failed tool result".to_owned(),
                Some(false) => "a successful tool result".to_owned(),
                None => "a tool result".to_owned(),
            };
            if let Some(name) = &self.tool {
                result += &format!(" of {}", excerpt(name.as_str()));
            }
            if let Some(part) = &self.tool_result_contains {
                result += &format!(" with {}", excerpt(part));
            }
            conditions.push(result);
        }
        if conditions.is_empty() {
            f.write_str("any request")
        } else {
            f.write_str(&conditions.join(" and "))
        }
    }
}

/// The text of the last message that a model sees; empty if there is none.
pub(super) fn last_text(messages: &History) -> String {
    messages.for_model().next_back().map(Message::text).unwrap_or_default()
}

/// The text of the last tool result anywhere in the request; empty if there is none.
pub(super) fn last_tool_result(messages: &History) -> String {
    let is_result = |message: &&Message| matches!(message, Message::ToolResult(_));
    messages.for_model().rev().find(is_result).map(Message::text).unwrap_or_default()
}

/// The tool results at the end of the request, last first.
fn trailing_results(messages: &History) -> impl Iterator<Item = (&Message, &ToolResultMessage)> {
    messages.for_model().rev().map_while(|message| match message {
        Message::ToolResult(result) => Some((message, result)),
        Message::User(_) | Message::Assistant(_) => None,
    })
}

/// No turn matches the request. Displays as a message for the author of the scenario.
pub(super) struct NoMatchingTurn<'a> {
    /// The name of the scenario.
    pub(super) scenario: Option<&'a str>,
    /// The number of the request, starting at 1.
    pub(super) number: u64,
    /// The number of turns and closures.
    pub(super) entries: usize,
    /// The unused entries, each with its number in the list, starting at 1.
    pub(super) unused: Vec<(usize, UnusedEntry<'a>)>,
    /// The text of the request's last message.
    pub(super) last_text: String,
}

/// An unused entry that does not match.
pub(super) enum UnusedEntry<'a> {
    Turn(&'a Condition),
    Closure,
}

impl fmt::Display for NoMatchingTurn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scenario {
            Some(name) => write!(f, "scenario {} has no turn", excerpt(name))?,
            None => write!(f, "the scenario has no turn")?,
        }
        let (number, entries) = (self.number, self.entries);
        write!(f, " for request {number}: {} of {entries} turns are unused", self.unused.len())?;
        for (position, unused) in self.unused.iter().take(TURNS_SHOWN_MAX) {
            match unused {
                UnusedEntry::Turn(condition) => write!(f, "; turn {position} needs {condition}")?,
                UnusedEntry::Closure => write!(f, "; turn {position} is a closure that declined")?,
            }
        }
        if self.unused.len() > TURNS_SHOWN_MAX {
            write!(f, "; and {} more", self.unused.len() - TURNS_SHOWN_MAX)?;
        }
        write!(f, "; the last message starts with {}; add a matching turn", excerpt(&self.last_text))
    }
}

/// The start of `text`, quoted on one line.
fn excerpt(text: &str) -> String {
    let start: String = text.chars().take(EXCERPT_CHARS_MAX).collect();
    let more = if start.len() < text.len() { "..." } else { "" };
    format!("{start:?}{more}")
}
