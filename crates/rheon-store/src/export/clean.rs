//! Replaces control and invisible characters by visible escapes, and drops terminal escape sequences.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use rheon_text::TextContext;

/// Drops terminal sequences and escapes invisible characters. Returns the text and the number of affected
/// characters. Line breaks and tabs stay; a carriage return before a line break is dropped.
pub(super) fn clean(text: &str) -> (Cow<'_, str>, u64) {
    if !text.chars().any(is_invisible) {
        return (Cow::Borrowed(text), 0);
    }
    let mut out = String::with_capacity(text.len());
    let mut hidden = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\u{1b}' => hidden += skip_sequence(&mut characters),
            odd if is_invisible(odd) => {
                hidden += 1;
                out.extend(odd.escape_unicode());
            }
            plain => out.push(plain),
        }
    }
    (Cow::Owned(out), hidden)
}

/// Skips a terminal sequence after its escape character. Returns its length, including the escape character.
fn skip_sequence(characters: &mut Peekable<Chars<'_>>) -> u64 {
    /// Longer sequences are treated as text.
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
        // A command with a string argument: ends with a bell or another escape character, and never spans lines.
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

fn is_invisible(character: char) -> bool {
    TextContext::Prose.forbids(character)
}
