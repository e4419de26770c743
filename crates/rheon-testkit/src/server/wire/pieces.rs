//! Splits text into pieces, and writes counts that may not be numbers.

use serde_json::{Value, json};

use crate::server::reply::UsageReport;

/// A placeholder for a count; does not occur in any response.
const COUNT_MARK: &str = "\u{1}count\u{1}";

/// `text` in pieces of `chars` characters, or whole if that is 0. An empty text has no pieces.
pub(super) fn pieces(text: &str, chars: usize) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    if chars == 0 {
        return vec![text];
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(chars).map_or(rest.len(), |(end, _)| end);
        let (piece, left) = rest.split_at(end);
        pieces.push(piece);
        rest = left;
    }
    pieces
}

/// The counts of a response as JSON: numbers, or placeholders for the script's text.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    pub(crate) input: Value,
    pub(crate) output: Value,
    pub(crate) cache_read: Value,
    pub(crate) cache_write: Value,
    pub(crate) thinking: Value,
    /// Output without thinking.
    pub(crate) spoken: Value,
    /// Input including all cached tokens.
    pub(crate) prompt: Value,
    /// Prompt and output.
    pub(crate) total: Value,
    /// The output count at the start of a stream: one token.
    pub(crate) one: Value,
}

impl Counts {
    /// The counts of a report, unless it is absent.
    pub(crate) fn of(report: &UsageReport) -> Option<Self> {
        match report {
            UsageReport::Absent => None,
            UsageReport::Every(_) => {
                let mark = || Value::String(COUNT_MARK.to_owned());
                Some(Self {
                    input: mark(),
                    output: mark(),
                    cache_read: mark(),
                    cache_write: mark(),
                    thinking: mark(),
                    spoken: mark(),
                    prompt: mark(),
                    total: mark(),
                    one: mark(),
                })
            }
            UsageReport::Counts { usage, thinking } => {
                let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
                let sum = prompt.saturating_add(usage.output);
                let total = if usage.total_tokens > 0 { usage.total_tokens } else { sum };
                Some(Self {
                    input: json!(usage.input),
                    output: json!(usage.output),
                    cache_read: json!(usage.cache_read),
                    cache_write: json!(usage.cache_write),
                    thinking: json!(thinking),
                    spoken: json!(usage.output.saturating_sub(*thinking)),
                    prompt: json!(prompt),
                    total: json!(total),
                    one: json!(1),
                })
            }
        }
    }
}

/// `json` with `text` in place of every count.
pub(super) fn put_counts(json: &str, text: &str) -> String {
    json.replace(&Value::String(COUNT_MARK.to_owned()).to_string(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_between_characters() {
        assert_eq!(pieces("añb🙂c", 2), ["añ", "b🙂", "c"]);
        assert_eq!(pieces("abc", 0), ["abc"]);
        assert_eq!(pieces("", 3), Vec::<&str>::new());
    }

    #[test]
    fn count_can_be_any_text() {
        let counts = Counts::of(&UsageReport::Every("NaN".into())).unwrap();
        assert_eq!(put_counts(&json!({"n": counts.input}).to_string(), "NaN"), r#"{"n":NaN}"#);
    }
}
