//! The text that asks a model for a summary of what went before.

use std::borrow::Cow;

/// What a good hand-over holds, and that it is text only.
const PROMPT: &str = include_str!("compact/summary.md");
/// What leads the user's own wishes.
const WISHES: &str = "\n## What the user wants of this summary\n";

/// The request for a summary, with what the user wants kept or left out.
pub fn summary_prompt(instructions: Option<&str>) -> Cow<'static, str> {
    match instructions.map(str::trim).filter(|text| !text.is_empty()) {
        None => Cow::Borrowed(PROMPT),
        Some(text) => Cow::Owned(format!("{PROMPT}{WISHES}{text}\n")),
    }
}
