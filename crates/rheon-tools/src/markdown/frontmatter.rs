//! Frontmatter, read leniently.
//!
//! YAML is read by `serde-saphyr`: it is pure Rust, it is maintained, and it bounds depth and aliases.

use rheon_text::visible;
use serde_json::{Map, Value};

/// How many characters a name may have.
pub(crate) const NAME_CHARACTERS_MAX: usize = 64;

/// What frontmatter says, by name.
pub(crate) type Fields = Map<String, Value>;

/// How frontmatter could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParseMode {
    /// As it is.
    Strict,
    /// Only with its values in quotes; this was the problem.
    Quoted(String),
}

/// The frontmatter and the body of a file; nothing if it has no frontmatter.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Some((text.get(first.len()..end)?, text.get(end + line.len()..)?));
        }
        end += line.len();
    }
    None
}

/// What frontmatter says; an error if it cannot be understood even with its values in quotes.
pub(crate) fn parse(yaml: &str) -> Result<(Fields, ParseMode), String> {
    match parse_strictly(yaml) {
        Ok(fields) => Ok((fields, ParseMode::Strict)),
        Err(problem) => match parse_strictly(&quote_values(yaml)) {
            Ok(fields) => Ok((fields, ParseMode::Quoted(problem))),
            Err(_) => Err(problem),
        },
    }
}

fn parse_strictly(yaml: &str) -> Result<Fields, String> {
    let first_line = |error: serde_saphyr::Error| {
        let message = error.to_string();
        let line = message.lines().next().unwrap_or_default();
        // What a program could do about it helps nobody who wrote the file.
        let line = line.split(", set ").next().unwrap_or(line);
        visible(line.strip_prefix("error: ").unwrap_or(line))
    };
    match serde_saphyr::from_str::<Value>(yaml).map_err(first_line)? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("it holds no `key: value` lines".into())
        }
    }
}

/// The same with every plain value of one line in quotes, because a `: ` in it is what breaks files most often.
fn quote_values(yaml: &str) -> String {
    let mut text = String::with_capacity(yaml.len());
    for line in yaml.lines() {
        match line.split_once(": ") {
            Some((key, value)) if is_key(key) && is_plain(value.trim()) => {
                let value = value.trim().replace('\\', "\\\\").replace('"', "\\\"");
                text.push_str(&format!("{key}: \"{value}\"\n"));
            }
            Some(_) | None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|one| one.is_alphanumeric() || matches!(one, '-' | '_'))
}

/// Whether a value has no mark of its own: no quotes, no block, no flow, no truth value. `[file] [depth]` is no list.
fn is_plain(value: &str) -> bool {
    let is_after_list = |value: &str| value.split_once(']').is_some_and(|(_, rest)| !rest.is_empty());
    if value.starts_with('[') && is_after_list(value) {
        return true;
    }
    !value.is_empty()
        && !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#'])
        && !matches!(value, "true" | "false" | "null" | "~")
}

/// A field as text, if it has any.
pub(crate) fn text_field(fields: &Fields, key: &str) -> Option<String> {
    let text = match fields.get(key)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Whether something can be called so: 1 to 64 characters, all of them visible.
pub(crate) fn is_valid_name(name: &str) -> bool {
    (1..=NAME_CHARACTERS_MAX).contains(&name.chars().count()) && name.trim() == name && visible(name) == name
}

/// `^[a-z0-9]+(-[a-z0-9]+)*$`.
pub(crate) fn is_kebab_case(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit())
    };
    name.split('-').all(is_word)
}
