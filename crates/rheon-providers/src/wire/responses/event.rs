//! The events of a Responses response, borrowed from the frame.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::wire::count::Count;
use crate::wire::lenient::{Counts, ListIndex, Text, parse_or_default};

/// The event type, if the frame does not name it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) object: Text<'a>,
}

/// JSON text: as a string, or as the value itself.
#[derive(Default)]
pub(super) struct Json<'a>(Cow<'a, str>);

impl std::ops::Deref for Json<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        Ok(Self(match raw.as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw).map_err(serde::de::Error::custom)?,
            Some(b'{' | b'[') => Cow::Borrowed(raw),
            _ => Cow::Borrowed(""),
        }))
    }
}

/// A piece of an item.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Piece<'a> {
    pub(super) output_index: ListIndex,
    #[serde(borrow)]
    pub(super) item_id: Text<'a>,
    pub(super) summary_index: ListIndex,
    pub(super) content_index: ListIndex,
    #[serde(borrow)]
    pub(super) delta: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Json<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
}

/// The start or end of an item.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ItemEvent<'a> {
    pub(super) output_index: ListIndex,
    #[serde(borrow)]
    pub(super) item: Item<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    /// Whether the item is complete, if the service says so.
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Json<'a>,
    #[serde(borrow)]
    pub(super) encrypted_content: Text<'a>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

impl<'a> Item<'a> {
    pub(super) fn summary(&self) -> Vec<Part<'a>> {
        self.summary.map(parse_or_default).unwrap_or_default()
    }

    pub(super) fn content(&self) -> Vec<Part<'a>> {
        self.content.map(parse_or_default).unwrap_or_default()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
}

impl Part<'_> {
    pub(super) fn text_content(&self) -> &str {
        if self.text.is_empty() { &self.refusal } else { &self.text }
    }
}

/// The whole response at one stage.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseEvent<'a> {
    #[serde(borrow)]
    pub(super) response: Response<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Incomplete<'a> {
    #[serde(borrow)]
    reason: Text<'a>,
}

impl<'a> Response<'a> {
    /// Why the response is incomplete.
    pub(super) fn incomplete_reason(&self) -> &str {
        self.incomplete_details.as_ref().map_or("", |details| &*details.reason)
    }

    pub(super) fn output(&self) -> Vec<Item<'a>> {
        self.output.map(parse_or_default).unwrap_or_default()
    }

    pub(super) fn counts(&self) -> Option<Counts> {
        let report: Report = parse_or_default(self.usage?);
        let details = report.input_tokens_details.unwrap_or_default();
        Some(Counts {
            prompt: report.input_tokens,
            cache_read: details.cached_tokens,
            cache_write: details.cache_write_tokens,
            output: report.output_tokens,
            reasoning: report.output_tokens_details.unwrap_or_default().reasoning_tokens,
            total: report.total_tokens,
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    input_tokens: Count,
    output_tokens: Count,
    output_tokens_details: Option<OutputDetails>,
    total_tokens: Count,
    input_tokens_details: Option<InputDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}
