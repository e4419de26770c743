//! `reasoning_details`: reasoning with data to send back, assembled from pieces (OpenRouter).

use rheon_types::{ProviderError, ProviderErrorKind};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::wire::lenient::{ListIndex, Text, parse_or_default};

/// The maximum size of the details of a response.
pub(super) const DETAILS_BYTES_MAX: usize = 8 * 1024 * 1024;

#[derive(Default)]
pub(super) struct Details {
    entries: Vec<Entry>,
    bytes: usize,
    /// Whether they contain anything that the service can verify or decrypt.
    worth_keeping: bool,
}

struct Entry {
    kind: String,
    index: Option<u32>,
    id: String,
    body: Body,
}

enum Body {
    /// A single piece, unchanged.
    Whole(Box<RawValue>),
    /// Several merged pieces.
    Merged(Map<String, Value>),
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(raw) => raw.serialize(serializer),
            Self::Merged(fields) => fields.serialize(serializer),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    index: ListIndex,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    #[serde(borrow)]
    data: Text<'a>,
}

impl Details {
    /// Adds a piece. Returns the readable reasoning in it.
    pub(super) fn piece<'a>(&mut self, raw: &'a RawValue) -> Result<Text<'a>, ProviderError> {
        let head: Head<'a> = parse_or_default(raw);
        self.bytes = self.bytes.saturating_add(raw.get().len());
        if self.bytes > DETAILS_BYTES_MAX {
            return Err(ProviderError::new(
                ProviderErrorKind::Api,
                format!("the reasoning details of the answer are larger than {DETAILS_BYTES_MAX} bytes"),
            ));
        }
        self.worth_keeping |= !head.signature.is_empty() || !head.data.is_empty();
        match self.entries.last_mut().filter(|entry| entry.continues_with(&head)) {
            Some(entry) => entry.merge(raw),
            None => self.entries.push(Entry {
                kind: head.kind.to_string(),
                index: head.index.0,
                id: head.id.to_string(),
                body: Body::Whole(raw.to_owned()),
            }),
        }
        Ok(if head.text.is_empty() { head.summary } else { head.text })
    }

    /// All details as a JSON list, if the service expects them back; then resets.
    pub(super) fn take(&mut self) -> Option<String> {
        if !self.worth_keeping {
            return None;
        }
        let bodies: Vec<Body> = std::mem::take(self).entries.into_iter().map(|entry| entry.body).collect();
        serde_json::to_string(&bodies).ok()
    }
}

impl Entry {
    /// Only readable reasoning comes in pieces.
    fn continues_with(&self, head: &Head<'_>) -> bool {
        let readable = matches!(&*head.kind, "reasoning.text" | "reasoning.summary");
        let same_id = self.id.is_empty() || head.id.is_empty() || *self.id == *head.id;
        readable && self.kind == *head.kind && self.index == head.index.0 && same_id
    }

    /// Texts are appended; other fields take the newest value.
    fn merge(&mut self, raw: &RawValue) {
        if let Body::Whole(first) = &self.body {
            self.body = Body::Merged(parse_or_default(first));
        }
        let Body::Merged(fields) = &mut self.body else { return };
        let more: Map<String, Value> = parse_or_default(raw);
        for (name, value) in more {
            match (name.as_str(), fields.get_mut(&name), value) {
                (_, Some(_), Value::Null) => {}
                ("text" | "summary", Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
                (_, _, value) => {
                    fields.insert(name, value);
                }
            }
        }
    }
}
