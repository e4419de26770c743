//! Values in words, and words made to fit a line. Pure.

use rheon_text::inert;
use rheon_text::units::count;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many arguments of a call are shown.
const ARGUMENTS_SHOWN_MAX: usize = 20;

/// How much of one argument is shown.
const ARGUMENT_CHARS_MAX: usize = 60;

/// How much of a result is looked at for its first line.
const LINE_CHARS_MAX: usize = 1_000;

/// What a call is about, on one line: its command, path or pattern; all arguments if it has none of these.
pub(super) fn about(call: &Value) -> String {
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

/// The arguments of a call on one line: `name=plan text="two words"`.
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

/// The first line of `text` that says something, and how many follow it.
pub fn one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = clip(lines.next().unwrap_or("(empty)"), LINE_CHARS_MAX);
    let first = inert(&first).replace('\t', " ");
    match lines.count() {
        0 => first,
        more => format!("{first} (+{})", count(more as u64, "line")),
    }
}

/// The first `chars` characters of `text`; one more stands for whatever is left out.
fn clip(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars).chain(['…']).collect(),
    }
}

/// The text in at most `columns` columns of a terminal.
pub(super) fn fit(text: &str, columns: usize) -> String {
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

/// How many columns the text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
