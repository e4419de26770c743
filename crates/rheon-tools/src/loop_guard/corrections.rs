//! Lessons from user corrections, such as "no, use X instead" right after a change. Pure and deliberately simple: a
//! table of phrases decides what counts as a correction, and the lesson quotes the user. Also decides whether a
//! correction contradicts an earlier lesson.

use std::collections::{HashMap, HashSet};

use rheon_types::{Author, History, Message};

use super::failures::truncate;
use super::lesson::{Correction, Lesson, LessonRedactor, LessonSource, describe_call, one_line};

/// The most characters of the user's message that are quoted, and the most words that are checked.
const QUOTE_CHARS_MAX: usize = 300;
const WORDS_SCANNED_MAX: usize = 40;
const CHANGES_SHOWN_MAX: usize = 3;
/// The most lessons per conversation. The latest are kept.
const LESSONS_MAX: usize = 16;

const CHANGING_TOOLS: [&str; 4] = ["write", "edit", "notebook_edit", "bash"];

/// A correction starts with one of these, as whole words.
const PREFIXES: [&str; 18] = [
    "no,",
    "no.",
    "no!",
    "no -",
    "nope",
    "don't",
    "do not",
    "please don't",
    "please do not",
    "never",
    "stop",
    "wrong",
    "undo",
    "revert",
    "not like",
    "that's not",
    "that's wrong",
    "this is wrong",
];

/// Or contains one of these near its start.
const PHRASES: [&str; 8] =
    ["instead", "don't", "do not", "never", "shouldn't", "should not", "rather than", "i said"];

/// A message that starts with one of these is not a correction.
const EXCEPTIONS: [&str; 5] = ["never mind", "don't worry", "no problem", "no worries", "no thanks"];

/// The wording of lessons: how they start, and what separates the background from the advice.
const FORMS: [(&str, &str); 2] = [("After `", ", the user said: "), ("When `", "\": ")];

/// How many leading letters two words must share to count as the same word.
const SHARED_LETTERS_MIN: usize = 4;

/// How many words of the advice a correction must share with it, if the advice has that many.
const SHARED_WORDS_MIN: usize = 2;

/// Words that do not say what advice is about.
const STOP_WORDS: [&str; 44] = [
    "after", "again", "all", "always", "and", "any", "are", "before", "but", "came", "can", "does", "don",
    "for", "from", "have", "here", "instead", "into", "just", "like", "never", "not", "now", "one", "only",
    "please", "rather", "said", "should", "stop", "than", "that", "the", "them", "then", "this", "use",
    "was", "what", "when", "with", "worked", "you",
];

/// The lesson from the user's message after these changes, if it is a correction.
pub fn correction(changes: &[String], text: &str, redact: &LessonRedactor) -> Option<Lesson> {
    if changes.is_empty() || !is_correction(text) {
        return None;
    }
    let latest = changes.get(changes.len().saturating_sub(CHANGES_SHOWN_MAX)..).unwrap_or_default();
    let quote = truncate(&redact.text(&one_line(text)), QUOTE_CHARS_MAX);
    let text = format!("After {}, the user said: \"{quote}\"", latest.join(", "));
    let correction = Correction { changes: latest.to_vec(), quote };
    Some(Lesson { text, source: LessonSource::Correction(correction) })
}

/// The lessons of a conversation, one for each user message that corrects successful changes.
pub fn corrections(history: &History, redact: &LessonRedactor) -> Vec<Lesson> {
    let mut lessons = Vec::new();
    let mut pending = HashMap::new();
    let mut changes: Vec<String> = Vec::new();
    for message in history.for_model() {
        match message {
            Message::Assistant(assistant) => {
                for call in assistant.tool_calls().filter(|call| CHANGING_TOOLS.contains(&call.name.as_str()))
                {
                    pending
                        .insert(call.id.clone(), describe_call(call.name.as_str(), &call.arguments, redact));
                }
            }
            Message::ToolResult(result) => {
                let change = pending.remove(&result.tool_call_id).filter(|_| !result.is_error);
                changes.extend(change.filter(|change| !changes.contains(change)));
            }
            Message::User(user) => match user.author {
                Author::User => {
                    lessons.extend(correction(&changes, &message.text(), redact));
                    changes.clear();
                }
                Author::Runtime => {}
            },
        }
    }
    lessons.split_off(lessons.len().saturating_sub(LESSONS_MAX))
}

fn is_correction(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(WORDS_SCANNED_MAX).collect();
    let text = words.join(" ").to_lowercase().replace('\u{2019}', "'");
    let begins = |sign: &&str| {
        text.strip_prefix(*sign)
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric) && !rest.starts_with('\''))
    };
    if EXCEPTIONS.iter().any(begins) {
        return false;
    }
    text == "no" || PREFIXES.iter().any(begins) || PHRASES.iter().any(|sign| has_words(&text, sign))
}

/// Whether `text` contains `words` as whole words.
fn has_words(text: &str, words: &str) -> bool {
    let is_letter = |one: Option<char>| one.is_some_and(|one| one.is_alphanumeric() || one == '\'');
    text.match_indices(words).any(|(at, matched)| {
        let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let after = rest.strip_prefix(matched).unwrap_or_default();
        !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
    })
}

impl Correction {
    /// Whether this correction contradicts `learning`: one of the changes follows its advice, and the user's message is
    /// about that advice. A change that the learning itself warns about does not follow it. Deliberately simple: it
    /// counts shared words.
    pub fn contradicts(&self, learning: &str) -> bool {
        let (background, advice) = split_learning(learning);
        let advice = words(advice);
        let is_followed = |change: &String| {
            !background.contains(change.as_str()) && count_shared(&advice, &words(change)) > 0
        };
        let enough = SHARED_WORDS_MIN.min(advice.len());
        let shared = count_shared(&advice, &words(&self.quote));
        shared > 0 && shared >= enough && self.changes.iter().any(is_followed)
    }
}

/// Splits a learning into its background and its advice. One in no known form is all advice.
fn split_learning(learning: &str) -> (&str, &str) {
    let form = FORMS.iter().find(|(prefix, _)| learning.starts_with(prefix));
    form.and_then(|(_, between)| learning.split_once(between)).unwrap_or(("", learning))
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|one: char| !one.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() > 2 && !STOP_WORDS.contains(&word.as_str())).collect()
}

/// How many of `words` also occur in `others`, allowing for different endings.
fn count_shared(words: &HashSet<String>, others: &HashSet<String>) -> usize {
    let begins =
        |short: &str, long: &str| short.chars().count() >= SHARED_LETTERS_MIN && long.starts_with(short);
    let is_shared = |word: &&String| {
        others.iter().any(|other| *word == other || begins(word, other) || begins(other, word))
    };
    words.iter().filter(is_shared).count()
}
