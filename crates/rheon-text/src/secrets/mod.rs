//! Recognizes secrets by shape, name and position, and redacts them.

mod bytes;
mod find;
mod names;
mod shapes;
mod strictness;

use std::borrow::Cow;

pub use find::{SecretMatch, find, is_secret_text, is_secret_value};
pub use names::{is_secret_name, is_secret_variable};
pub use shapes::canaries;
pub use strictness::SecretStrictness;

/// Replaces a secret that only its name or position identifies.
pub const MARK: &str = "[redacted]";

/// Replaces a secret of this kind.
pub fn mark(kind: &str) -> String {
    format!("[redacted: {kind}]")
}

/// Replaces every secret in `text` with `[redacted: kind]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    let secrets = find(text, SecretStrictness::Balanced);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for found in secrets {
        shown.push_str(text.get(from..found.range.start).unwrap_or_default());
        shown.push_str(&mark(found.kind));
        from = found.range.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(shown)
}
