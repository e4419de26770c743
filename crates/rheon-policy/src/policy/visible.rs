//! Text that hides nothing: control characters and those that change the order of reading are spelt out.

use std::fmt::Write as _;

/// `text` with every character spelt out that a terminal would obey or not show.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            other if hides(other) => {
                // Writing to a string cannot fail.
                write!(shown, "\\u{{{:x}}}", u32::from(other)).unwrap_or_default();
            }
            other => shown.push(other),
        }
    }
    shown
}

/// The most characters of one thing in a sentence about it.
pub(crate) const CHARACTERS_MAX: usize = 500;

/// `text` made visible and, where it is too long for a sentence, cut, with the number of characters that are missing.
/// For reasons only: what a person decides about is shown whole, in the subject of the question.
pub fn brief(text: &str) -> String {
    let count = text.chars().count();
    if count <= CHARACTERS_MAX {
        return visible(text);
    }
    let head: String = text.chars().take(CHARACTERS_MAX).collect();
    format!("{} [{} characters more]", visible(&head), count - CHARACTERS_MAX)
}

/// Whether a character is obeyed rather than shown: controls, bidirectional marks, characters of no width, tags.
fn hides(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
