//! `excerpt`: text from a call, made safe and short enough for a message.

use rheon_text::visible;

pub(crate) const CHARACTERS_MAX: usize = 500;

/// Escapes hidden characters and truncates long text, with the number of characters left out. For reasons only: the
/// approval prompt shows the subject in full.
pub fn excerpt(text: &str) -> String {
    let count = text.chars().count();
    if count <= CHARACTERS_MAX {
        return visible(text);
    }
    let head: String = text.chars().take(CHARACTERS_MAX).collect();
    format!("{} [{} more characters]", visible(&head), count - CHARACTERS_MAX)
}
