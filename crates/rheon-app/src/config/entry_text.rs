//! How texts of a configuration are shown.

use rheon_text::visible;

/// A text as TOML has it; control characters are shown, not sent.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(&text.replace('\\', "\\\\").replace('"', "\\\"")))
}
