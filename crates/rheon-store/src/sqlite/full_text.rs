//! Text as the search sees it, and questions that the search understands whatever a person typed.
//!
//! The tokenizer splits at spaces and signs. Chinese and Japanese are written without spaces and pictures stand beside
//! words, so each such character is set apart; otherwise a whole sentence would be one word.

use std::borrow::Cow;

/// Sets characters apart; the tokenizer takes it for a space, and a reader does not see it.
const SEPARATOR: char = '\u{200b}';

/// How many words of a question count.
const WORDS_MAX: usize = 64;

/// How much of a question is looked at.
const QUESTION_CHARS_MAX: usize = 4_096;

/// Words that are in almost every prompt and say nothing about it.
const EMPTY_WORDS: [&str; 48] = [
    "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do",
    "does", "for", "from", "has", "have", "how", "i", "in", "is", "it", "its", "me", "my", "no", "not", "of",
    "on", "or", "please", "so", "some", "that", "the", "then", "this", "to", "was", "we", "what", "when",
    "with", "you", "your",
];

/// `text` with the characters set apart that are words of their own.
pub(super) fn segmented(text: &str) -> Cow<'_, str> {
    if !text.chars().any(stands_alone) {
        return Cow::Borrowed(text);
    }
    let mut apart = String::with_capacity(text.len() * 2);
    for character in text.chars() {
        if stands_alone(character) {
            apart.extend([SEPARATOR, character, SEPARATOR]);
        } else {
            apart.push(character);
        }
    }
    Cow::Owned(apart)
}

/// `text` as it was before [`segmented`].
pub(super) fn joined(text: &str) -> String {
    text.chars().filter(|character| *character != SEPARATOR).collect()
}

/// The question "all of these words, the last of them perhaps unfinished"; nothing if there is no word to look for.
/// Nothing in it is taken for an operator.
pub(super) fn all_words(typed: &str) -> Option<String> {
    let phrases: Vec<_> = words(typed).map(phrase).collect();
    // A lone letter or sign would match half of everything as a beginning.
    let ends_open = !typed.ends_with(char::is_whitespace)
        && words(typed).last().is_some_and(|word| word.chars().count() > 1);
    let suffix = if ends_open { "*" } else { "" };
    (!phrases.is_empty()).then(|| phrases.join(" ") + suffix)
}

/// The question "any of these words, leaving out those that say nothing"; nothing if there is no word to look for.
pub(super) fn any_word(prompt: &str) -> Option<String> {
    let mut phrases: Vec<String> = Vec::new();
    // Signs at the edges belong to the sentence, and CJK text is asked for character by character.
    let separate = segmented(prompt);
    for word in separate.split(|it: char| !(it.is_alphanumeric() || stands_alone(it))) {
        if phrases.len() == WORDS_MAX {
            break;
        }
        let lower = word.to_lowercase();
        if lower.is_empty() || EMPTY_WORDS.contains(&lower.as_str()) {
            continue;
        }
        let phrase = phrase(&lower);
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    (!phrases.is_empty()).then(|| phrases.join(" OR "))
}

/// The words of a question that have something to look for in them.
fn words(typed: &str) -> impl Iterator<Item = &str> {
    let end = typed.char_indices().nth(QUESTION_CHARS_MAX).map_or(typed.len(), |(index, _)| index);
    let looked_at = typed.get(..end).unwrap_or(typed);
    let separate = |it: char| it.is_whitespace() || it == '\0';
    looked_at
        .split(separate)
        .filter(|word| word.chars().any(|it| it.is_alphanumeric() || stands_alone(it)))
        .take(WORDS_MAX)
}

/// `word` in quotation marks, its own ones doubled: within them there are no operators.
fn phrase(word: &str) -> String {
    format!("\"{}\"", segmented(word).replace('"', "\"\""))
}

/// Whether a character is a word of its own: ideographs, kana, and pictures.
fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{2190}'..='\u{21ff}'     // arrows
        | '\u{2300}'..='\u{27bf}'   // technical signs, boxes, shapes, dingbats
        | '\u{2b00}'..='\u{2bff}'   // more arrows and shapes
        | '\u{3040}'..='\u{30ff}'   // hiragana, katakana
        | '\u{3400}'..='\u{4dbf}'   // ideographs, extension A
        | '\u{4e00}'..='\u{9fff}'   // ideographs
        | '\u{f900}'..='\u{faff}'   // compatibility ideographs
        | '\u{1f000}'..='\u{1faff}' // pictures
        | '\u{20000}'..='\u{3134f}' // ideographs, further extensions
    )
}

#[cfg(test)]
#[path = "full_text_tests.rs"]
mod tests;
