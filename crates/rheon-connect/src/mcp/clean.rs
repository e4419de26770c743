//! What servers write, made safe: no hidden characters, no more than a limit.

use rheon_text::TextContext;
use serde_json::{Map, Value};

/// How much of a text of a server is shown in a message.
const LINE_CHARS_MAX: usize = 300;

/// How deep schemas are cleaned. Deeper ones are refused when they are read.
const DEPTH_MAX: usize = 64;

/// `text` without control, zero-width and direction characters, and with at most `chars_max` characters.
pub(crate) fn clean(text: &str, chars_max: usize) -> String {
    let shown = text.chars().filter(|character| !TextContext::Block.forbids(*character));
    let mut cleaned: String = shown.take(chars_max + 1).collect();
    if let Some((end, _)) = cleaned.char_indices().nth(chars_max) {
        cleaned.truncate(end);
        cleaned.push_str(" [...]");
    }
    cleaned
}

/// `text` on one short line.
pub(super) fn short_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    clean(line.trim(), LINE_CHARS_MAX)
}

/// A schema whose titles and descriptions are clean. `None` if it is nested too deeply.
pub(super) fn clean_schema(schema: &Map<String, Value>, chars_max: usize) -> Option<Map<String, Value>> {
    cleaned_object(schema, chars_max, DEPTH_MAX)
}

fn cleaned_object(object: &Map<String, Value>, chars_max: usize, depth: usize) -> Option<Map<String, Value>> {
    let depth = depth.checked_sub(1)?;
    let mut cleaned = Map::new();
    for (key, value) in object {
        let value = match (key.as_str(), value) {
            ("description" | "title" | "$comment", Value::String(text)) => {
                Value::String(clean(text, chars_max))
            }
            (_, value) => cleaned_value(value, chars_max, depth)?,
        };
        cleaned.insert(key.clone(), value);
    }
    Some(cleaned)
}

fn cleaned_value(value: &Value, chars_max: usize, depth: usize) -> Option<Value> {
    Some(match value {
        Value::Object(object) => Value::Object(cleaned_object(object, chars_max, depth)?),
        Value::Array(items) => {
            let depth = depth.checked_sub(1)?;
            let items = items.iter().map(|item| cleaned_value(item, chars_max, depth));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    })
}

/// An error with its causes, on one short line.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    short_line(&text)
}
