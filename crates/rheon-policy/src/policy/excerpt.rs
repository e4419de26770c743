//! Text for a sentence about it: hides nothing, and is not too long.

use rheon_text::visible;

/// The most characters of one thing in a sentence about it.
pub(crate) const CHARACTERS_MAX: usize = 500;

/// `text` made visible and, where it is too long for a sentence, cut, with the number of characters that are missing.
/// For reasons only: what a person decides about is shown whole, in the subject of the question.
pub fn excerpt(text: &str) -> String {
    let count = text.chars().count();
    if count <= CHARACTERS_MAX {
        return visible(text);
    }
    let head: String = text.chars().take(CHARACTERS_MAX).collect();
    format!("{} [{} characters more]", visible(&head), count - CHARACTERS_MAX)
}
