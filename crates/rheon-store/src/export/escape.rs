//! Escapes text for HTML, and fences it for Markdown.

use std::borrow::Cow;

/// Escapes text for HTML content and quoted attributes.
pub(super) fn escape_html(text: &str) -> Cow<'_, str> {
    let is_special = |character: char| matches!(character, '&' | '<' | '>' | '"' | '\'');
    if !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 32);
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            plain => escaped.push(plain),
        }
    }
    Cow::Owned(escaped)
}

/// Puts text between fences that are longer than any fence in it.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let break_after = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{break_after}{fence}\n")
}
