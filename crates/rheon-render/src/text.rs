//! Short descriptions of values, and text fitted to a line. Pure.

use rheon_text::inert;
use rheon_text::units::count;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const ARGUMENTS_SHOWN_MAX: usize = 20;

const ARGUMENT_CHARS_MAX: usize = 60;

/// How much of a result to search for its first line.
const LINE_CHARS_MAX: usize = 1_000;

/// Describes a call in one line: its command, path or pattern, or else all arguments.
pub(super) fn describe_call(call: &Value) -> String {
    let text = |key: &str| call.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let place = text("path").or(text("file_path")).map(one_line);
    match (text("command").or(text("url")), text("pattern"), place) {
        (Some(main), _, _) => one_line(main),
        (None, Some(pattern), Some(place)) => format!("{} in {place}", one_line(pattern)),
        (None, Some(pattern), None) => one_line(pattern),
        (None, None, Some(place)) => place,
        (None, None, None) => arguments(call),
    }
}

/// The arguments of a call in one line: `name=plan text="two words"`.
pub(super) fn arguments(arguments: &Value) -> String {
    match arguments {
        Value::Object(members) => {
            let shown = members.iter().take(ARGUMENTS_SHOWN_MAX);
            let mut parts: Vec<String> =
                shown.map(|(key, value)| format!("{}={}", one_line(key), argument(value))).collect();
            if members.len() > ARGUMENTS_SHOWN_MAX {
                parts.push("…".into());
            }
            parts.join(" ")
        }
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => argument(arguments),
    }
}

fn argument(value: &Value) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-./:@".contains(c);
    match value {
        Value::String(text) if !text.is_empty() && text.chars().all(is_bare) => {
            clip(text, ARGUMENT_CHARS_MAX)
        }
        Value::String(text) => format!("{:?}", clip(text.trim_end(), ARGUMENT_CHARS_MAX)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            one_line(&clip(&value.to_string(), ARGUMENT_CHARS_MAX))
        }
    }
}

/// The first non-empty line of `text`, and how many lines follow.
pub fn one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = clip(lines.next().unwrap_or("(empty)"), LINE_CHARS_MAX);
    let first = inert(&first).replace('\t', " ");
    match lines.count() {
        0 => first,
        more => format!("{first} (+{})", count(more as u64, "line")),
    }
}

/// The first `chars` characters of `text`, with an ellipsis if it is longer.
fn clip(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars).chain(['…']).collect(),
    }
}

/// Truncates `text` to `columns` terminal columns.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut fitted = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > room {
            break;
        }
        fitted.push(character);
    }
    if columns > 0 {
        fitted.push('…');
    }
    fitted
}

/// The width of `text` in terminal columns.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
