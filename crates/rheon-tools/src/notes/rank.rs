//! Which notes fit a task: words in common, each weighted by how rare it is among the notes. Pure.

use std::collections::{HashMap, HashSet};

use crate::notes::note::Note;

/// How much of a task and of a note is looked at.
const CHARACTERS_MAX: usize = 32 * 1024;

/// What a word counts by where it stands.
const IN_NAME: f64 = 3.0;
const IN_DESCRIPTION: f64 = 2.0;
const IN_TEXT: f64 = 1.0;

/// Words that are in almost every text and say nothing about it.
const STOP_WORDS: [&str; 66] = [
    "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do",
    "does", "for", "from", "has", "have", "he", "how", "if", "in", "into", "is", "it", "its", "make", "me",
    "more", "my", "no", "not", "now", "of", "on", "one", "only", "or", "our", "out", "please", "she",
    "should", "so", "some", "that", "the", "then", "there", "they", "this", "to", "up", "us", "use", "was",
    "we", "were", "what", "when", "which", "with", "you", "your",
];

/// The notes that have something to do with `task`, the best first, the newer one first among equals.
pub(super) fn rank<'a>(notes: &'a [Note], task: &str) -> Vec<&'a Note> {
    let query = words(task);
    let weights_by_note: Vec<HashMap<String, f64>> = notes.iter().map(weights).collect();
    let rarity = |word: &str| {
        let with = weights_by_note.iter().filter(|note| note.contains_key(word)).count();
        // A word of all notes still counts a little: with a single note every word is one of all.
        (1.0 + notes.len() as f64 / with.max(1) as f64).ln()
    };
    // The order of a set is not that of the next run, and sums of fractions depend on it.
    let mut query: Vec<(String, f64)> = query.into_iter().map(|word| (word.clone(), rarity(&word))).collect();
    query.sort_by(|one, other| one.0.cmp(&other.0));
    let score = |weights: &HashMap<String, f64>| {
        let hits = query.iter().filter_map(|(word, rarity)| Some(weights.get(word)? * rarity));
        hits.sum::<f64>()
    };
    let mut scored: Vec<(f64, &Note)> = weights_by_note.iter().map(score).zip(notes).collect();
    scored.retain(|(score, _)| *score > 0.0);
    scored.sort_by(|(one_score, one), (other_score, other)| {
        let by_score = other_score.total_cmp(one_score);
        by_score.then_with(|| other.created.cmp(&one.created)).then_with(|| one.name.cmp(&other.name))
    });
    scored.into_iter().map(|(_, note)| note).collect()
}

/// Each word of a note with what it counts.
fn weights(note: &Note) -> HashMap<String, f64> {
    let mut weights: HashMap<String, f64> = HashMap::new();
    let name = format!("{} {}", note.name, note.keywords.join(" "));
    for (text, weight) in [(&name, IN_NAME), (&note.description, IN_DESCRIPTION), (&note.text, IN_TEXT)] {
        for word in words(text) {
            let known = weights.entry(word).or_default();
            *known = known.max(weight);
        }
    }
    weights
}

/// The words of a text that say something, in lower case and without an `s` at their end. Signs of scripts without spaces are
/// words of their own.
fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut word = String::new();
    for character in text.chars().take(CHARACTERS_MAX).chain([' ']) {
        if character.is_alphanumeric() && !is_cjk(character) {
            word.extend(character.to_lowercase());
            continue;
        }
        add(&mut words, &word);
        word.clear();
        if is_cjk(character) {
            words.insert(character.to_string());
        }
    }
    words
}

fn add(words: &mut HashSet<String>, word: &str) {
    let length = word.chars().count();
    if length < 2 || STOP_WORDS.contains(&word) {
        return;
    }
    let stem = word.strip_suffix('s').filter(|_| length > 3 && !word.ends_with("ss")).unwrap_or(word);
    words.insert(stem.to_owned());
}

/// Kana and ideographs.
fn is_cjk(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}
