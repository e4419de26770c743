//! Lenient parsing of YAML frontmatter.
//!
//! `serde-saphyr` parses the YAML: it is pure Rust, maintained, and bounds depth and aliases.

use rheon_text::visible;
use serde_json::{Map, Value};

pub(crate) const NAME_CHARACTERS_MAX: usize = 64;

/// The fields of frontmatter by name.
pub(crate) type Fields = Map<String, Value>;

/// How frontmatter was parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParseMode {
    Strict,
    /// Only after its values were put in quotes. Holds the original problem.
    Quoted(String),
}

/// The frontmatter and the body of a file. `None` if it has no frontmatter.
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

/// Parses frontmatter, with its values in quotes if necessary.
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
        // The hints for programmers do not help the author of the file.
        let line = line.split(", set ").next().unwrap_or(line);
        visible(line.strip_prefix("error: ").unwrap_or(line))
    };
    match serde_saphyr::from_str::<Value>(yaml).map_err(first_line)? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("no `key: value` lines".into())
        }
    }
}

/// Puts every plain one-line value in quotes, because a `: ` in a value is the most common mistake.
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

/// Whether a value is plain text: no quotes, block, flow or boolean. `[file] [depth]` is not a list.
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

/// Whether this is a valid name: 1 to 64 visible characters.
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
