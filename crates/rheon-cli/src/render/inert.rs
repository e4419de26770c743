//! `inert`: text that a model, a tool or a file made, so that a terminal shows it and does not obey it.

use std::borrow::Cow;

/// The text with whatever a terminal would obey written out: control characters (also the 8-bit ones) other than line break
/// and tab, and the characters that turn the direction of writing.
pub(crate) fn inert(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_active(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_active(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
#[path = "inert_tests.rs"]
mod tests;
