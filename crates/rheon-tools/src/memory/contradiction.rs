//! Whether a correction speaks against something that was learnt: the advice was followed, and the user objects to just that. Pure,
//! and deliberately simple: words in common.

use std::collections::HashSet;

use super::lesson::Correction;

/// How lessons say what was done before they came to their advice, and how the advice begins.
const FORMS: [(&str, &str); 2] = [("After `", ", the user said: "), ("When `", "\": ")];

/// How many letters two words must share at their beginning to count as one.
const COMMON_LETTERS_MIN: usize = 4;

/// How many words of some advice must be in what was said against it, if it has as many.
const COMMON_WORDS_MIN: usize = 2;

/// Words that say nothing about what advice is about.
const EMPTY_WORDS: [&str; 44] = [
    "after", "again", "all", "always", "and", "any", "are", "before", "but", "came", "can", "does", "don",
    "for", "from", "have", "here", "instead", "into", "just", "like", "never", "not", "now", "one", "only",
    "please", "rather", "said", "should", "stop", "than", "that", "the", "them", "then", "this", "use",
    "was", "what", "when", "with", "worked", "you",
];

impl Correction {
    /// Whether it speaks against `learning`: one of the changes follows its advice, and what was said is about the advice too. A change
    /// that the learning itself warns of follows no advice.
    pub fn speaks_against(&self, learning: &str) -> bool {
        let (warned_of, advice) = parts(learning);
        let advice = words(advice);
        let is_followed =
            |change: &String| !warned_of.contains(change.as_str()) && common(&advice, &words(change)) > 0;
        let enough = COMMON_WORDS_MIN.min(advice.len());
        let said = common(&advice, &words(&self.said));
        said > 0 && said >= enough && self.changes.iter().any(is_followed)
    }
}

/// What a learning says was done before, and what it advises. One in no known form is all advice.
fn parts(learning: &str) -> (&str, &str) {
    let form = FORMS.iter().find(|(beginning, _)| learning.starts_with(beginning));
    form.and_then(|(_, between)| learning.split_once(between)).unwrap_or(("", learning))
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|one: char| !one.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() > 2 && !EMPTY_WORDS.contains(&word.as_str())).collect()
}

/// How many of `words` are among `others`, more or less.
fn common(words: &HashSet<String>, others: &HashSet<String>) -> usize {
    let begins =
        |short: &str, long: &str| short.chars().count() >= COMMON_LETTERS_MIN && long.starts_with(short);
    let is_there = |word: &&String| {
        others.iter().any(|other| *word == other || begins(word, other) || begins(other, word))
    };
    words.iter().filter(is_there).count()
}
