//! Conditions: which turn fits a request, and what to say when none does. Pure.

use std::fmt;

use rheon_types::{History, Message, ToolName, ToolResultMessage};

/// How many turns that are left are described when none fits.
const TURNS_SHOWN_MAX: usize = 5;

/// How much of a text is quoted in a message.
const EXCERPT_CHARS_MAX: usize = 80;

/// What a request must be like for a turn to be played. All parts that are given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) last_text_contains: Option<String>,
    /// This and the next two are about one and the same of the tool results that the request ends in.
    pub(super) tool: Option<ToolName>,
    pub(super) tool_result_contains: Option<String>,
    pub(super) tool_result_is_error: Option<bool>,
    /// The number of the request, from 1.
    pub(super) request: Option<u64>,
}

impl Condition {
    /// Whether it holds for the request with this number and these messages.
    pub(super) fn holds(&self, number: u64, messages: &History) -> bool {
        self.request.is_none_or(|wanted| wanted == number)
            && self.last_text_contains.as_ref().is_none_or(|part| last_text(messages).contains(part))
            && (!self.wants_tool_result()
                || trailing_results(messages).any(|(message, result)| self.fits_result(message, result)))
    }

    fn wants_tool_result(&self) -> bool {
        self.tool.is_some() || self.tool_result_contains.is_some() || self.tool_result_is_error.is_some()
    }

    fn fits_result(&self, message: &Message, result: &ToolResultMessage) -> bool {
        self.tool.as_ref().is_none_or(|name| *name == result.tool_name)
            && self.tool_result_is_error.is_none_or(|wanted| wanted == result.is_error)
            && self.tool_result_contains.as_ref().is_none_or(|part| message.text().contains(part))
    }
}

/// Says what it wants, to go on from "turn 2 wants".
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut wants = Vec::new();
        if let Some(number) = self.request {
            wants.push(format!("request {number}"));
        }
        if let Some(part) = &self.last_text_contains {
            wants.push(format!("a last message with {}", excerpt(part)));
        }
        if self.wants_tool_result() {
            let mut want = match self.tool_result_is_error {
                Some(true) => "a failed tool result".to_owned(),
                Some(false) => "a successful tool result".to_owned(),
                None => "a tool result".to_owned(),
            };
            if let Some(name) = &self.tool {
                want += &format!(" of {}", excerpt(name.as_str()));
            }
            if let Some(part) = &self.tool_result_contains {
                want += &format!(" with {}", excerpt(part));
            }
            wants.push(want);
        }
        if wants.is_empty() { f.write_str("any request") } else { f.write_str(&wants.join(" and ")) }
    }
}

/// The text of the last message that a model sees; empty if there is none.
pub(super) fn last_text(messages: &History) -> String {
    messages.for_model().next_back().map(Message::text).unwrap_or_default()
}

/// The text of the last tool result, wherever it stands; empty if there is none.
pub(super) fn last_tool_result(messages: &History) -> String {
    let is_result = |message: &&Message| matches!(message, Message::ToolResult(_));
    messages.for_model().rev().find(is_result).map(Message::text).unwrap_or_default()
}

/// The tool results that the request ends in, last first.
fn trailing_results(messages: &History) -> impl Iterator<Item = (&Message, &ToolResultMessage)> {
    messages.for_model().rev().map_while(|message| match message {
        Message::ToolResult(result) => Some((message, result)),
        Message::User(_) | Message::Assistant(_) => None,
    })
}

/// A request for which there is no turn. Displays as a message for whoever wrote the scenario.
pub(super) struct NoTurn<'a> {
    /// The name of the scenario.
    pub(super) scenario: Option<&'a str>,
    /// The number of the request, from 1.
    pub(super) number: u64,
    /// How many turns and closures there are.
    pub(super) entries: usize,
    /// Those that are not used up, each with its place in the list, from 1.
    pub(super) left: Vec<(usize, Left<'a>)>,
    /// The text of the request's last message.
    pub(super) last_text: String,
}

/// An entry that is not used up but does not fit.
pub(super) enum Left<'a> {
    Turn(&'a Condition),
    Closure,
}

impl fmt::Display for NoTurn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scenario {
            Some(name) => write!(f, "scenario {} has no turn", excerpt(name))?,
            None => write!(f, "the scenario has no turn")?,
        }
        let (number, entries) = (self.number, self.entries);
        write!(f, " for request {number}: {} of {entries} turns are unused", self.left.len())?;
        for (place, left) in self.left.iter().take(TURNS_SHOWN_MAX) {
            match left {
                Left::Turn(condition) => write!(f, "; turn {place} wants {condition}")?,
                Left::Closure => write!(f, "; turn {place} is a closure that declined")?,
            }
        }
        if self.left.len() > TURNS_SHOWN_MAX {
            write!(f, "; and {} more", self.left.len() - TURNS_SHOWN_MAX)?;
        }
        write!(f, "; the last message begins {}; add a turn that fits it", excerpt(&self.last_text))
    }
}

/// The start of `text`, quoted on one line.
fn excerpt(text: &str) -> String {
    let start: String = text.chars().take(EXCERPT_CHARS_MAX).collect();
    let more = if start.len() < text.len() { "..." } else { "" };
    format!("{start:?}{more}")
}
