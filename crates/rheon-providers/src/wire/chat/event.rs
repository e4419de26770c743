//! An event of a chat response, borrowed from the frame.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::wire::count::Count;
use crate::wire::lenient::{Counts, ListIndex, Text, parse_or_default};

/// One chunk of a stream, or a whole response.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub(super) object: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) choices: FirstChoice<'a>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    x_groq: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl Event<'_> {
    /// The usage, wherever this service puts it.
    pub(super) fn counts(&self) -> Option<Counts> {
        let in_choice = self.choices.0.as_ref().and_then(|choice| choice.usage);
        match (self.usage.or(in_choice), self.x_groq) {
            (Some(usage), _) => Some(parse_or_default::<Report>(usage).counts()),
            (None, Some(extra)) => Some(parse_or_default::<Groq>(extra).usage?.counts()),
            (None, None) => None,
        }
    }

    /// Why a stream ended early, where Groq says so.
    pub(super) fn stream_error(&self) -> Option<String> {
        let extra = parse_or_default::<Groq>(self.x_groq?);
        Some(extra.error).filter(|problem| !problem.is_empty())
    }
}

/// The first choice; more are never requested.
#[derive(Default)]
pub(super) struct FirstChoice<'a>(pub(super) Option<Choice<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for FirstChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstVisitor).map(Self)
    }
}

struct FirstVisitor;

impl<'de> Visitor<'de> for FirstVisitor {
    type Value = Option<Choice<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut choices: A) -> Result<Self::Value, A::Error> {
        let first = choices.next_element()?;
        while choices.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    message: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Text<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl<'a> Choice<'a> {
    /// The new part. Some services also repeat the whole message next to it.
    pub(super) fn new_part(&self) -> Option<&Delta<'a>> {
        self.delta.as_ref().or(self.message.as_ref())
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) content: Content<'a>,
    #[serde(borrow)]
    reasoning_content: Text<'a>,
    #[serde(borrow)]
    reasoning: Text<'a>,
    #[serde(borrow)]
    reasoning_text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_details: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) tool_calls: CallPieces<'a>,
    #[serde(borrow)]
    pub(super) function_call: Option<Function<'a>>,
    #[serde(borrow)]
    pub(super) refusal: Text<'a>,
}

impl Delta<'_> {
    /// Whether it has no content, only for instance a role.
    pub(super) fn is_empty(&self) -> bool {
        let content = match &self.content {
            Content::Nothing => true,
            Content::Text(text) => text.is_empty(),
            Content::Parts(parts) => parts.is_empty(),
        };
        let calls = self.tool_calls.0.is_empty() && self.function_call.is_none();
        content && calls && self.thinking().is_empty() && self.refusal.is_empty()
    }

    /// The reasoning, from the first non-empty field: services repeat it under several names.
    pub(super) fn thinking(&self) -> &str {
        let names = [&self.reasoning_content, &self.reasoning, &self.reasoning_text, &self.thinking];
        names.into_iter().find(|text| !text.is_empty()).map_or("", |text| text)
    }
}

#[derive(Default)]
pub(super) enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of parts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = items.next_element()? {
            parts.push(part);
        }
        Ok(Content::Parts(parts))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        let part = Part::deserialize(serde::de::value::MapAccessDeserializer::new(fields))?;
        Ok(Content::Parts(vec![part]))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    /// A text, or nested parts.
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
}

impl<'a> Part<'a> {
    pub(super) fn thinking(&self) -> Option<Content<'a>> {
        self.thinking.map(parse_or_default)
    }
}

/// The calls of a part: a list, or a single one.
#[derive(Default)]
pub(super) struct CallPieces<'a>(pub(super) Vec<CallPiece<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for CallPieces<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        let pieces = match raw.get().as_bytes().first() {
            Some(b'[') => serde_json::from_str(raw.get()),
            _ if matches!(raw.get(), "null" | "\"\"") => Ok(Vec::new()),
            _ => serde_json::from_str(raw.get()).map(|piece| vec![piece]),
        };
        pieces.map(Self).map_err(serde::de::Error::custom)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CallPiece<'a> {
    pub(super) index: ListIndex,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Arguments: a piece of text, or a whole object.
pub(super) enum Arguments<'a> {
    None,
    Piece(Text<'a>),
    Whole(&'a str),
}

impl<'a> Function<'a> {
    pub(super) fn arguments(&self) -> Arguments<'a> {
        let Some(raw) = self.arguments else { return Arguments::None };
        if raw.get().starts_with('"') {
            let piece: Text<'a> = parse_or_default(raw);
            if piece.is_empty() { Arguments::None } else { Arguments::Piece(piece) }
        } else {
            Arguments::Whole(raw.get())
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Groq {
    usage: Option<Report>,
    error: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    prompt_tokens: Count,
    completion_tokens: Count,
    total_tokens: Count,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek.
    prompt_cache_hit_tokens: Count,
    /// Moonshot.
    cached_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Count,
}

impl Report {
    fn counts(&self) -> Counts {
        let details = self.prompt_tokens_details.as_ref();
        let cache_counts = [
            details.map(|details| details.cached_tokens).unwrap_or_default(),
            self.prompt_cache_hit_tokens,
            self.cached_tokens,
        ];
        Counts {
            prompt: self.prompt_tokens,
            cache_read: cache_counts.into_iter().find(|count| count.0 > 0).unwrap_or_default(),
            cache_write: details.map(|details| details.cache_write_tokens).unwrap_or_default(),
            output: self.completion_tokens,
            reasoning: self
                .completion_tokens_details
                .as_ref()
                .map(|details| details.reasoning_tokens)
                .unwrap_or_default(),
            total: self.total_tokens,
        }
    }
}
