//! Text that a model, a tool or a file made, with the characters written out that are unsafe to show.

use std::borrow::Cow;

use crate::TextContext;

/// `text` for a terminal to show and not to obey. Line breaks, tabs and what emoji and scripts need stay.
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

/// `text` on one line, hiding nothing: for names, paths, rules and reasons.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if TextContext::Line.forbids(character) {
            // Line feed, carriage return and tab are written `\n`, `\r` and `\t`.
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// `text` of several lines, hiding nothing: for what a person decides about. Line breaks stay, and tabs become spaces.
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
