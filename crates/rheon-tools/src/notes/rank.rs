//! Ranks notes for a task by shared words, weighted by how rare each word is among the notes. Pure.

use std::collections::{HashMap, HashSet};

use crate::notes::note::Note;

/// The most characters of a task and of a note that are read.
const CHARACTERS_MAX: usize = 32 * 1024;

/// The weight of a word by where it occurs.
const IN_NAME: f64 = 3.0;
const IN_DESCRIPTION: f64 = 2.0;
const IN_TEXT: f64 = 1.0;

/// Words too common to be meaningful.
const STOP_WORDS: [&str; 66] = [
    "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do",
    "does", "for", "from", "has", "have", "he", "how", "if", "in", "into", "is", "it", "its", "make", "me",
    "more", "my", "no", "not", "now", "of", "on", "one", "only", "or", "our", "out", "please", "she",
    "should", "so", "some", "that", "the", "then", "there", "they", "this", "to", "up", "us", "use", "was",
    "we", "were", "what", "when", "which", "with", "you", "your",
];

/// The notes related to `task`, best first. Among equals the newer note comes first.
pub(super) fn rank<'a>(notes: &'a [Note], task: &str) -> Vec<&'a Note> {
    let query = words(task);
    let weights_by_note: Vec<HashMap<String, f64>> = notes.iter().map(weights).collect();
    let rarity = |word: &str| {
        let with = weights_by_note.iter().filter(|note| note.contains_key(word)).count();
        // A word in all notes still counts a little: with a single note, every word is in all notes.
        (1.0 + notes.len() as f64 / with.max(1) as f64).ln()
    };
    // Sort, because the order of a set varies between runs and floating-point sums depend on it.
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

/// Each word of a note with its weight.
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

/// The meaningful words of a text, in lower case and without a trailing `s`. Characters of scripts without spaces are
/// words themselves.
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

/// Whether this is a kana or an ideograph.
fn is_cjk(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}
