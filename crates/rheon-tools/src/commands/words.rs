//! Arguments as words, and words as a shell reads them.

/// How many arguments are told apart; the rest is in `$ARGUMENTS` only.
const WORDS_MAX: usize = 1_000;

/// The words of a line: spaces part them, quotes of both kinds hold them together. A quote without an end holds to the end.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            // Within a word it is an apostrophe.
            (None, '"' | '\'') if word.as_deref().is_none_or(|word| word.ends_with('=')) => {
                word.get_or_insert_default();
                quote = Some(character);
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words.truncate(WORDS_MAX);
    words
}

/// Whether a shell reads `word` as itself, wherever it stands.
pub(super) fn is_harmless(word: &str) -> bool {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_./:@%+,=-".contains(one);
    !word.is_empty() && word.chars().all(is_plain)
}

/// `word` so that a shell reads it as itself where no quotes are open; nothing if that is not certain.
pub(super) fn quoted(word: &str) -> Option<String> {
    if is_harmless(word) {
        return Some(word.to_owned());
    }
    // A line break might end a comment or a here-document that the word stands in.
    (!word.contains(char::is_control)).then(|| format!("'{}'", word.replace('\'', "'\\''")))
}
