//! `inert`: text that a model, a tool or a file made, so that a terminal shows it and does not obey it.

use std::borrow::Cow;

/// The text with whatever a terminal would obey written out: control characters (also the 8-bit ones) other than line break
/// and tab, and the characters that turn the direction of writing or break lines in their own way. Marks that only say how a
/// neighbour is drawn stay: languages and emoji need them.
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

/// The text with whatever is obeyed, not seen or takes no room written out: for what a person decides about. Line breaks
/// stay, and tabs become blanks.
pub(super) fn spelt_out(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => shown.push_str("    "),
            other if is_active(other) || is_hidden(other) => shown.extend(other.escape_unicode()),
            other => shown.push(other),
        }
    }
    shown
}

/// Whether a character is not seen, or changes how others are read.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

fn is_active(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{206a}'..='\u{206f}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
#[path = "inert_tests.rs"]
mod tests;
