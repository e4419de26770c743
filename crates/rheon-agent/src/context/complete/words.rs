//! Detects how an answer ends: with a question, an announcement or neither. English only; other languages match
//! nothing, which is harmless.

/// Beginnings of an announcing sentence. Offers ("I can", "you could") are not announcements.
const BEGINNINGS: &[&str] = &[
    "let me ",
    "let's ",
    "i'll ",
    "i will ",
    "i'm going to ",
    "i am going to ",
    "now i'll ",
    "now i will ",
    "now let me ",
    "next, i'll ",
    "next i'll ",
    "next, i will ",
    "next, let me ",
    "first, i'll ",
    "first, let me ",
];

/// Phrases that make a sentence depend on the user, so that it is not an announcement.
const CONDITIONS: &[&str] = &[
    " if ",
    " once ",
    " when you",
    " after you",
    " unless ",
    "let me know",
    "let me summar",
    "let me explain",
    "wait for",
];

/// The maximum length of a quoted sentence.
const CHARS_MAX: usize = 200;

/// Whether the text ends with a question.
pub(super) fn asks(text: &str) -> bool {
    last_sentence(text).trim_end_matches(['"', '\'', ')', '*', '_', ' ']).ends_with('?')
}

/// The last sentence, if it announces a next step.
pub(super) fn announces(text: &str) -> Option<String> {
    let sentence = last_sentence(text);
    let lower = sentence.to_lowercase().replace('’', "'");
    let begins = BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning));
    let is_conditional = CONDITIONS.iter().any(|condition| lower.contains(condition));
    (begins && !is_conditional).then(|| sentence.chars().take(CHARS_MAX).collect())
}

/// The last sentence of the last paragraph; empty for lists and code.
fn last_sentence(text: &str) -> &str {
    let Some(line) = text.lines().rev().map(str::trim).find(|line| !line.is_empty()) else { return "" };
    let is_prose =
        !line.starts_with(['-', '*', '#', '`', '|', '>']) && !line.starts_with(|c: char| c.is_ascii_digit());
    if !is_prose {
        return "";
    }
    let body = line.trim_end_matches(['.', '!', '?', ':', '…']);
    let start =
        [". ", "! ", "? ", ": "].iter().filter_map(|end| body.rfind(end).map(|at| at + end.len())).max();
    line.get(start.unwrap_or(0)..).unwrap_or(line).trim()
}
