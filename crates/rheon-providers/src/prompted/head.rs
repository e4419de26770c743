//! Reads the head of a step: tells a call from an answer before it is complete. Pure.

use rheon_types::{ToolDefinition, ToolName};

use super::json::leading_value;
use super::schema::{ANSWER, ARGUMENTS, NAME};

/// A longer head is neither.
pub(super) const HEAD_BYTES_MAX: usize = 4 * 1024;

/// The longest line that opens a fenced block.
const FENCE_WORD_BYTES_MAX: usize = 32;

/// What the head of a text shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Head {
    /// Not enough to tell.
    More,
    /// The final answer, whose value starts at `at`.
    Answer { at: usize },
    /// A call, whose arguments start at `at`.
    Call { name: ToolName, at: usize },
    /// A call without arguments, which ends at `end`.
    Bare { name: ToolName, end: usize },
    /// Neither.
    Other,
}

/// Reads the head of `text`, which has no leading whitespace.
pub(super) fn read(text: &str, offered: &[ToolDefinition]) -> Head {
    // Never more than this, so that a long chunk gives the same result as many short ones.
    let window = text.get(..text.floor_char_boundary(HEAD_BYTES_MAX)).unwrap_or_default();
    match (Reader { text: window, rest: window }).head(offered) {
        Some(head) => head,
        None if text.len() > window.len() => Head::Other,
        None => Head::More,
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// `None` if the text ends too early.
    fn head(mut self, offered: &[ToolDefinition]) -> Option<Head> {
        let fenced = match self.fence()? {
            Fence::Open => true,
            Fence::None => false,
            Fence::Other => return Some(Head::Other),
        };
        if !self.take('{')? {
            return Some(Head::Other);
        }
        let key = match self.string()? {
            Ok(key) => key,
            Err(NotAString) => return Some(Head::Other),
        };
        let is_call = [NAME, "tool"].contains(&key.as_str());
        if !self.take(':')? || (key != ANSWER && !is_call) {
            return Some(Head::Other);
        }
        if !is_call {
            return self.peek().map(|_| Head::Answer { at: self.at() });
        }
        // A fenced call may be an example; that is decided when the whole response is known.
        let name = match self.string()? {
            Ok(name) if !fenced => name,
            Ok(_) | Err(NotAString) => return Some(Head::Other),
        };
        match offered.iter().find(|tool| tool.name.as_str() == name) {
            Some(tool) => self.arguments(tool.name.clone()),
            None => Some(Head::Other),
        }
    }

    fn arguments(mut self, name: ToolName) -> Option<Head> {
        if self.take('}')? {
            return Some(Head::Bare { name, end: self.at() });
        }
        if !self.take(',')? {
            return Some(Head::Other);
        }
        match self.string()? {
            Ok(key) if [ARGUMENTS, "arguments"].contains(&key.as_str()) => {}
            Ok(_) | Err(NotAString) => return Some(Head::Other),
        }
        if !self.take(':')? {
            return Some(Head::Other);
        }
        match self.peek()? {
            '{' | '"' => Some(Head::Call { name, at: self.at() }),
            _ => Some(Head::Other),
        }
    }

    fn fence(&mut self) -> Option<Fence> {
        let Some(after) = self.rest.strip_prefix("```") else {
            return if "```".starts_with(self.rest) { None } else { Some(Fence::None) };
        };
        match after.split_once('\n') {
            Some((word, rest))
                if word.len() <= FENCE_WORD_BYTES_MAX && matches!(word.trim(), "" | "json") =>
            {
                self.rest = rest;
                Some(Fence::Open)
            }
            Some(_) => Some(Fence::Other),
            None if after.len() > FENCE_WORD_BYTES_MAX => Some(Fence::Other),
            None => None,
        }
    }

    /// The next non-whitespace character.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, expected: char) -> Option<bool> {
        let matched = self.peek()? == expected;
        if matched {
            self.rest = self.rest.strip_prefix(expected).unwrap_or_default();
        }
        Some(matched)
    }

    fn string(&mut self) -> Option<Result<String, NotAString>> {
        if self.peek()? != '"' {
            return Some(Err(NotAString));
        }
        let token = leading_value(self.rest)?;
        self.rest = self.rest.strip_prefix(token).unwrap_or_default();
        Some(serde_json::from_str(token).map_err(|_| NotAString))
    }

    fn at(&self) -> usize {
        self.text.len() - self.rest.len()
    }
}

struct NotAString;

enum Fence {
    None,
    Open,
    Other,
}
