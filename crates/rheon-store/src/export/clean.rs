//! Characters that are obeyed rather than shown, spelt out; escape sequences of terminals, dropped.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use rheon_text::TextContext;

/// The text with terminal sequences dropped and what else is not shown spelt out, and how many characters that were.
/// Line breaks and tabs stay; a carriage return before a line break goes.
pub(super) fn clean(text: &str) -> (Cow<'_, str>, u64) {
    if !text.chars().any(is_odd) {
        return (Cow::Borrowed(text), 0);
    }
    let mut shown = String::with_capacity(text.len());
    let mut hidden = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\u{1b}' => hidden += skip_sequence(&mut characters),
            odd if is_odd(odd) => {
                hidden += 1;
                shown.extend(odd.escape_unicode());
            }
            plain => shown.push(plain),
        }
    }
    (Cow::Owned(shown), hidden)
}

/// Skips what a terminal takes for one sequence after an escape. How many characters that are, the escape included.
fn skip_sequence(characters: &mut Peekable<Chars<'_>>) -> u64 {
    /// No sequence is longer; what goes on is text again.
    const LENGTH_MAX: u64 = 4_096;
    let mut skipped = 1;
    let Some(kind) = characters.next_if(|next| next.is_ascii_graphic()) else { return skipped };
    skipped += 1;
    match kind {
        '[' => {
            while skipped < LENGTH_MAX && characters.next_if(|next| matches!(next, ' '..='?')).is_some() {
                skipped += 1;
            }
            skipped += u64::from(characters.next_if(|next| matches!(next, '@'..='~')).is_some());
        }
        // A command with a text: ends with a bell or with another escape; never spans lines.
        ']' | 'P' | 'X' | '^' | '_' => {
            while skipped < LENGTH_MAX
                && characters.next_if(|next| !matches!(next, '\u{7}' | '\u{1b}' | '\n')).is_some()
            {
                skipped += 1;
            }
            skipped += u64::from(characters.next_if_eq(&'\u{7}').is_some());
        }
        _ => {}
    }
    skipped
}

fn is_odd(character: char) -> bool {
    TextContext::Prose.forbids(character)
}
