//! Escapes characters that are unsafe to show in text from a model, a tool or a file.

use std::borrow::Cow;

use crate::TextContext;

/// Makes `text` safe for a terminal. Line breaks, tabs and what emoji and scripts need stay.
pub fn inert(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| TextContext::Prose.forbids(character)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if TextContext::Prose.forbids(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Puts `text` on one line with hidden characters escaped: for names, paths, rules and reasons.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if TextContext::Line.forbids(character) {
            // Line feed, carriage return and tab become `\n`, `\r` and `\t`.
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Escapes hidden characters in multi-line text that a user approves. Line breaks stay, and tabs become spaces.
pub fn visible_block(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => shown.push_str("    "),
            other if TextContext::Block.forbids(other) => shown.extend(other.escape_unicode()),
            other => shown.push(other),
        }
    }
    shown
}

#[cfg(test)]
#[path = "escape_tests.rs"]
mod tests;
