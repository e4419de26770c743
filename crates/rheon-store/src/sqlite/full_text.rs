//! Prepares text and queries for the full-text search.
//!
//! The tokenizer splits at spaces and punctuation. Chinese and Japanese text has no spaces, and emoji stand next to
//! words, so each such character is separated. Otherwise a whole sentence would be one word.

use std::borrow::Cow;

/// Separates characters. The tokenizer treats it as a space, and readers do not see it.
const SEPARATOR: char = '\u{200b}';

const WORDS_MAX: usize = 64;

const QUESTION_CHARS_MAX: usize = 4_096;

/// Words that occur in almost every prompt and carry no meaning for a search.
const STOP_WORDS: [&str; 48] = [
    "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do",
    "does", "for", "from", "has", "have", "how", "i", "in", "is", "it", "its", "me", "my", "no", "not", "of",
    "on", "or", "please", "so", "some", "that", "the", "then", "this", "to", "was", "we", "what", "when",
    "with", "you", "your",
];

/// Separates the characters that are words by themselves.
pub(super) fn segmented(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_single_word) {
        return Cow::Borrowed(text);
    }
    let mut apart = String::with_capacity(text.len() * 2);
    for character in text.chars() {
        if is_single_word(character) {
            apart.extend([SEPARATOR, character, SEPARATOR]);
        } else {
            apart.push(character);
        }
    }
    Cow::Owned(apart)
}

/// Reverts [`segmented`].
pub(super) fn joined(text: &str) -> String {
    text.chars().filter(|character| *character != SEPARATOR).collect()
}

/// A query for all of these words, where the last one may be incomplete. Returns `None` if there is no word.
/// Operators are escaped.
pub(super) fn all_words(typed: &str) -> Option<String> {
    let phrases: Vec<_> = words(typed).map(phrase).collect();
    // A single letter as a prefix would match too much.
    let ends_open = !typed.ends_with(char::is_whitespace)
        && words(typed).last().is_some_and(|word| word.chars().count() > 1);
    let suffix = if ends_open { "*" } else { "" };
    (!phrases.is_empty()).then(|| phrases.join(" ") + suffix)
}

/// A query for any of these words, without stop words. Returns `None` if there is no word.
pub(super) fn any_word(prompt: &str) -> Option<String> {
    let mut phrases: Vec<String> = Vec::new();
    // Trim punctuation, and search CJK text character by character.
    let separate = segmented(prompt);
    for word in separate.split(|it: char| !(it.is_alphanumeric() || is_single_word(it))) {
        if phrases.len() == WORDS_MAX {
            break;
        }
        let lower = word.to_lowercase();
        if lower.is_empty() || STOP_WORDS.contains(&lower.as_str()) {
            continue;
        }
        let phrase = phrase(&lower);
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    (!phrases.is_empty()).then(|| phrases.join(" OR "))
}

/// The words of a query that contain letters or digits.
fn words(typed: &str) -> impl Iterator<Item = &str> {
    let end = typed.char_indices().nth(QUESTION_CHARS_MAX).map_or(typed.len(), |(index, _)| index);
    let looked_at = typed.get(..end).unwrap_or(typed);
    let separate = |it: char| it.is_whitespace() || it == '\0';
    looked_at
        .split(separate)
        .filter(|word| word.chars().any(|it| it.is_alphanumeric() || is_single_word(it)))
        .take(WORDS_MAX)
}

/// Quotes `word`, so that it contains no operators.
fn phrase(word: &str) -> String {
    format!("\"{}\"", segmented(word).replace('"', "\"\""))
}

/// Whether a character is a word by itself: ideographs, kana and emoji.
fn is_single_word(character: char) -> bool {
    matches!(character,
        '\u{2190}'..='\u{21ff}'     // arrows
        | '\u{2300}'..='\u{27bf}'   // technical signs, boxes, shapes, dingbats
        | '\u{2b00}'..='\u{2bff}'   // more arrows and shapes
        | '\u{3040}'..='\u{30ff}'   // hiragana, katakana
        | '\u{3400}'..='\u{4dbf}'   // ideographs, extension A
        | '\u{4e00}'..='\u{9fff}'   // ideographs
        | '\u{f900}'..='\u{faff}'   // compatibility ideographs
        | '\u{1f000}'..='\u{1faff}' // emoji
        | '\u{20000}'..='\u{3134f}' // ideographs, further extensions
    )
}

#[cfg(test)]
#[path = "full_text_tests.rs"]
mod tests;
