//! Lenient deserialization of values in responses, with borrowed text.

use std::borrow::Cow;
use std::fmt;

use rheon_types::{ProviderError, Usage};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::count::Count;
use crate::error;

/// The maximum length of what a service adds to its error message.
const DETAIL_CHARS_MAX: usize = 500;

/// A text, borrowed if it has no escapes. A number becomes its digits; any other value becomes empty.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Cow::Borrowed(""))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cow::Borrowed(""))
    }
}

/// An index in a list, if given.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListIndex(pub(super) Option<u32>);

impl<'de> Deserialize<'de> for ListIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Text::deserialize(deserializer)?.parse().ok()))
    }
}

/// Parses a JSON object that borrows from `json`. `what` names it in the error, which does not quote its content.
pub(super) fn parse<'a, T: Deserialize<'a>>(what: &str, json: &'a str) -> Result<T, ProviderError> {
    if !json.starts_with('{') {
        return Err(error::malformed(format_args!("{what} is not a JSON object")));
    }
    serde_json::from_str(json).map_err(|problem| {
        let why = match problem.classify() {
            serde_json::error::Category::Eof => "ends too early",
            serde_json::error::Category::Data => "has a field of the wrong type",
            serde_json::error::Category::Syntax | serde_json::error::Category::Io => "is not JSON",
        };
        error::malformed(format_args!("{what} {why} (column {})", problem.column()))
    })
}

/// Parses an optional part of a response; invalid values count as absent.
pub(super) fn parse_or_default<'a, T: Deserialize<'a> + Default>(json: &'a RawValue) -> T {
    serde_json::from_str(json.get()).unwrap_or_default()
}

/// Whether the value of an `error` field is an error: some services send an empty one with every response.
pub(super) fn is_error(error: &RawValue) -> bool {
    !matches!(error.get(), "null" | "false" | "0" | "\"\"" | "{}" | "[]")
}

/// The counts of a call whose prompt tokens include cached tokens.
pub(super) struct Counts {
    pub(super) prompt: Count,
    pub(super) cache_read: Count,
    pub(super) cache_write: Count,
    pub(super) output: Count,
    /// Most services include these in `output`.
    pub(super) reasoning: Count,
    pub(super) total: Count,
}

impl Counts {
    /// The usage with cached prompt tokens counted separately.
    ///
    /// The parts of a prompt never add up to more than the prompt: some gateways (OpenRouter) count tokens that were
    /// written to the cache as read from it, too.
    pub(super) fn usage(&self) -> Usage {
        let (prompt, written) = (self.prompt.0, self.cache_write.0);
        let overlap = written <= prompt && self.cache_read.0.saturating_add(written) > prompt;
        let cache_read = self.cache_read.0.saturating_sub(if overlap { written } else { 0 });
        Usage {
            input: prompt.saturating_sub(cache_read).saturating_sub(written),
            output: self.written(),
            cache_read,
            cache_write: self.cache_write.0,
            total_tokens: self.total.0,
        }
    }

    /// All output tokens. Some services (xAI, Gemini on the chat wire) exclude reasoning from the output, which only
    /// the total reveals.
    fn written(&self) -> u64 {
        let apart = self.output.0.saturating_add(self.reasoning.0);
        if self.total.0 >= self.prompt.0.saturating_add(apart) { apart } else { self.output.0 }
    }
}

/// An error that a service reports inside a response.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Report<'a> {
    #[serde(borrow)]
    code: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Metadata<'a> {
    #[serde(borrow)]
    raw: Text<'a>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct FailedGeneration<'a> {
    #[serde(borrow)]
    failed_generation: Text<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// What the model wrote, if the error that `json` describes says that it was refused (Groq).
pub(crate) fn failed_generation(json: &str) -> Option<String> {
    let report: FailedGeneration<'_> = serde_json::from_str(json).ok()?;
    if report.failed_generation.is_empty() {
        return failed_generation(report.error?.get());
    }
    Some(report.failed_generation.to_string())
}

/// The error that `json` describes: a string, an object, or an object with the key `error`.
pub(super) fn reported(json: &str) -> ProviderError {
    let Ok(report) = serde_json::from_str::<Report<'_>>(json) else {
        let text: Text<'_> = serde_json::from_str(json).unwrap_or_default();
        return error::in_stream("error", if text.is_empty() { "the service gave no reason" } else { &text });
    };
    match report.error {
        Some(inner) if report.message.is_empty() => reported(inner.get()),
        Some(_) | None => report.into_error(),
    }
}

impl Report<'_> {
    fn into_error(self) -> ProviderError {
        let code = match (&*self.code, &*self.kind) {
            ("", "") => "error",
            ("", kind) => kind,
            (code, _) => code,
        };
        let metadata: Metadata<'_> = self.metadata.map(parse_or_default).unwrap_or_default();
        let message = if self.message.is_empty() { "the service gave no reason" } else { &self.message };
        if metadata.raw.is_empty() {
            error::in_stream(code, message)
        } else {
            let raw: String = metadata.raw.chars().take(DETAIL_CHARS_MAX).collect();
            error::in_stream(code, &format!("{message}: {raw}"))
        }
    }
}
