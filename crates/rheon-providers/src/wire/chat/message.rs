//! The messages of a chat request, serialized from the borrowed conversation.

use std::fmt::Display;

use rheon_types::OrderedJson;
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::cache::CacheMarks;
use crate::compat::{SystemRole, ThinkingReplay};
use crate::history::{Block, PreparedHistory, PreparedResult, ResultBlock, Role};
use crate::wire::codec::WireRequest;
use crate::wire::openai::{
    DataUrl, DisplayString, SchemaText, SystemText, joined, prompted_schema, result_text,
};

/// The text of a tool result with only images, which this wire cannot put there.
const IMAGES_FOLLOW: &str = "(pictures; they follow the tool results)";
/// The assistant message between a tool result and the user, for services that require one.
const AFTER_RESULTS: Plain = Plain { role: "assistant", content: "I have read the tool results." };

/// Marks the end of the cached part of the prompt.
#[derive(Serialize)]
pub(super) struct Mark {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl Mark {
    /// Cached for a few minutes.
    pub(super) const EPHEMERAL: Self = Self { kind: "ephemeral" };
}

/// All messages of a request, starting with the system prompt.
pub(super) struct Messages<'a> {
    pub(super) call: &'a WireRequest<'a>,
    pub(super) history: &'a PreparedHistory<'a>,
    pub(super) marks: &'a CacheMarks,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut messages = serializer.serialize_seq(None)?;
        self.system(&mut messages)?;
        let compat = self.call.compat;
        let mut results_before = false;
        for (index, (role, blocks)) in self.history.messages().enumerate() {
            let marked = self.marks.message(index);
            match role {
                Role::User => {
                    if results_before && compat.assistant_after_tool_result {
                        messages.serialize_element(&AFTER_RESULTS)?;
                    }
                    messages.serialize_element(&User { blocks, marked })?;
                }
                Role::Assistant => {
                    messages.serialize_element(&Answer { blocks, replay: compat.thinking_replay })?;
                }
                Role::Tool => self.results(&mut messages, blocks, marked)?,
            }
            results_before = role == Role::Tool && images(blocks).next().is_none();
        }
        if let Some(content) = self.history.continuation() {
            messages.serialize_element(&Plain { role: "user", content })?;
        }
        messages.end()
    }
}

impl Messages<'_> {
    fn system<S: SerializeSeq>(&self, messages: &mut S) -> Result<(), S::Error> {
        let Some(text) = SystemText::new(self.call) else { return Ok(()) };
        let role = match self.call.compat.system_role {
            SystemRole::System => "system",
            SystemRole::Developer => "developer",
        };
        match self.marks.system {
            [Some(_), _] | [_, Some(_)] => {
                let content = Sections { call: self.call, marks: self.marks };
                messages.serialize_element(&Plain { role, content })
            }
            [None, None] => messages.serialize_element(&Plain { role, content: DisplayString(text) }),
        }
    }

    /// The results of a group of calls, followed by their images, which only a user message can contain.
    fn results<S: SerializeSeq>(
        &self,
        messages: &mut S,
        blocks: &[Block<'_>],
        marked: bool,
    ) -> Result<(), S::Error> {
        let compat = self.call.compat;
        let last = results(blocks).count().saturating_sub(1);
        for (index, result) in results(blocks).enumerate() {
            let name = compat.tool_result_name.then_some(&*result.name);
            let marked = marked && index == last;
            messages.serialize_element(&ToolMessage { result, name, marked })?;
        }
        if images(blocks).next().is_none() {
            return Ok(());
        }
        if compat.assistant_after_tool_result {
            messages.serialize_element(&AFTER_RESULTS)?;
        }
        messages.serialize_element(&Plain { role: "user", content: ResultImages { blocks } })
    }
}

fn results<'a>(blocks: &'a [Block<'a>]) -> impl Iterator<Item = &'a PreparedResult<'a>> {
    blocks.iter().filter_map(|block| match block {
        Block::Result(result) => Some(result),
        Block::Text(_) | Block::Image { .. } | Block::Thinking { .. } | Block::Call { .. } => None,
    })
}

fn images<'a>(blocks: &'a [Block<'a>]) -> impl Iterator<Item = ResultBlock<'a>> {
    results(blocks).flat_map(PreparedResult::images)
}

#[derive(Serialize)]
struct Plain<T = &'static str> {
    role: &'static str,
    content: T,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a, T> {
    Text {
        text: T,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    ImageUrl {
        image_url: ImageUrl<'a>,
    },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

impl<T> Part<'_, T> {
    fn text(text: T) -> Self {
        Self::Text { text, cache_control: None }
    }
}

/// The system prompt as parts, so that one can be marked.
struct Sections<'a> {
    call: &'a WireRequest<'a>,
    marks: &'a CacheMarks,
}

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_seq(None)?;
        for (index, section) in self.call.request.system.sections().enumerate() {
            let cache_control = self.marks.section(index).then_some(Mark::EPHEMERAL);
            parts.serialize_element(&Part::Text { text: &*section.text, cache_control })?;
        }
        if let Some(schema) = prompted_schema(self.call) {
            parts.serialize_element(&Part::text(DisplayString(SchemaText(schema))))?;
        }
        parts.end()
    }
}

struct User<'a> {
    blocks: &'a [Block<'a>],
    marked: bool,
}

impl Serialize for User<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.blocks {
            [Block::Text(text)] if !self.marked => {
                Plain { role: "user", content: &**text }.serialize(serializer)
            }
            blocks => {
                let content = UserParts { blocks, marked: self.marked };
                Plain { role: "user", content }.serialize(serializer)
            }
        }
    }
}

struct UserParts<'a> {
    blocks: &'a [Block<'a>],
    marked: bool,
}

impl Serialize for UserParts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let last_text = self.blocks.iter().rposition(|block| matches!(block, Block::Text(_)));
        let marked = last_text.filter(|_| self.marked);
        serializer.collect_seq(self.blocks.iter().enumerate().filter_map(|(index, block)| match block {
            Block::Text(text) => {
                let cache_control = (marked == Some(index)).then_some(Mark::EPHEMERAL);
                Some(Part::Text { text: &**text, cache_control })
            }
            Block::Image { data, mime_type } => {
                Some(Part::ImageUrl { image_url: ImageUrl { url: DataUrl { mime_type, data } } })
            }
            Block::Thinking { .. } | Block::Call { .. } | Block::Result(_) => None,
        }))
    }
}

struct ToolMessage<'a> {
    result: &'a PreparedResult<'a>,
    name: Option<&'a str>,
    marked: bool,
}

impl Serialize for ToolMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut message = serializer.serialize_map(None)?;
        message.serialize_entry("role", "tool")?;
        message.serialize_entry("tool_call_id", &self.result.id)?;
        if let Some(name) = self.name {
            message.serialize_entry("name", name)?;
        }
        let has_text = self.result.blocks().any(|block| matches!(block, ResultBlock::Text(_)));
        if has_text {
            self.content(&mut message, result_text(self.result))?;
        } else if self.result.is_error {
            self.content(&mut message, format_args!("Error: {IMAGES_FOLLOW}"))?;
        } else {
            self.content(&mut message, IMAGES_FOLLOW)?;
        }
        message.end()
    }
}

impl ToolMessage<'_> {
    fn content<M: SerializeMap>(&self, message: &mut M, text: impl Display) -> Result<(), M::Error> {
        if self.marked {
            let text = Part::Text { text: DisplayString(text), cache_control: Some(Mark::EPHEMERAL) };
            message.serialize_entry("content", &[text])
        } else {
            message.serialize_entry("content", &DisplayString(text))
        }
    }
}

/// The images of a group of results, each with a line that names its tool.
struct ResultImages<'a> {
    blocks: &'a [Block<'a>],
}

impl Serialize for ResultImages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_seq(None)?;
        for result in results(self.blocks) {
            let mut is_labeled = false;
            for image_block in result.images() {
                let ResultBlock::Image { data, mime_type } = image_block else { continue };
                if !is_labeled {
                    let (id, name) = (&result.id, &result.name);
                    let line = DisplayString(format_args!("From the result of {name} (call {id}):"));
                    parts.serialize_element(&Part::text(line))?;
                    is_labeled = true;
                }
                let image_url = ImageUrl { url: DataUrl { mime_type, data } };
                let part: Part<'_, &str> = Part::ImageUrl { image_url };
                parts.serialize_element(&part)?;
            }
        }
        parts.end()
    }
}

struct Answer<'a> {
    blocks: &'a [Block<'a>],
    replay: ThinkingReplay,
}

impl Serialize for Answer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let has_calls = self.calls().next().is_some();
        let mut message = serializer.serialize_map(None)?;
        message.serialize_entry("role", "assistant")?;
        if self.texts().next().is_none() && has_calls {
            message.serialize_entry("content", &())?;
        } else {
            message.serialize_entry("content", &DisplayString(joined(self.texts(), "\n\n")))?;
        }
        self.thinking(&mut message)?;
        if has_calls {
            message.serialize_entry("tool_calls", &Calls { answer: self })?;
        }
        message.end()
    }
}

impl<'a> Answer<'a> {
    fn texts(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(&**text),
            Block::Image { .. } | Block::Thinking { .. } | Block::Call { .. } | Block::Result(_) => None,
        })
    }

    fn thoughts(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Thinking { text, .. } if !text.is_empty() => Some(*text),
            Block::Thinking { .. }
            | Block::Text(_)
            | Block::Image { .. }
            | Block::Call { .. }
            | Block::Result(_) => None,
        })
    }

    fn calls(&self) -> impl Iterator<Item = OutCall<'a>> + use<'a> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call { id, name, arguments } => {
                let function = OutFunction { name, arguments: DisplayString(*arguments) };
                Some(OutCall { id, kind: "function", function })
            }
            Block::Text(_) | Block::Image { .. } | Block::Thinking { .. } | Block::Result(_) => None,
        })
    }

    /// The detail lists that the service sent, unchanged.
    fn details(&self) -> impl Iterator<Item = &'a RawValue> + Clone + use<'a> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Thinking { signature: Some(signature), .. } if signature.data.starts_with('[') => {
                serde_json::from_str(&signature.data).ok()
            }
            Block::Thinking { .. }
            | Block::Text(_)
            | Block::Image { .. }
            | Block::Call { .. }
            | Block::Result(_) => None,
        })
    }

    fn thinking<M: SerializeMap>(&self, message: &mut M) -> Result<(), M::Error> {
        let field = match self.replay {
            ThinkingReplay::None => return Ok(()),
            ThinkingReplay::ReasoningContent => "reasoning_content",
            ThinkingReplay::Reasoning => "reasoning",
            ThinkingReplay::ReasoningDetails => {
                let mut details = self.details();
                match (details.next(), details.next()) {
                    (None, _) => "reasoning",
                    (Some(only), None) => return message.serialize_entry("reasoning_details", only),
                    (Some(_), Some(_)) => {
                        return message.serialize_entry("reasoning_details", &Details { answer: self });
                    }
                }
            }
        };
        if self.thoughts().next().is_none() {
            return Ok(());
        }
        message.serialize_entry(field, &DisplayString(joined(self.thoughts(), "\n\n")))
    }
}

/// Several detail lists as one.
struct Details<'a> {
    answer: &'a Answer<'a>,
}

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(None)?;
        for list in self.answer.details() {
            let items: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(S::Error::custom)?;
            for item in items {
                all.serialize_element(item)?;
            }
        }
        all.end()
    }
}

struct Calls<'a> {
    answer: &'a Answer<'a>,
}

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.answer.calls())
    }
}

#[derive(Serialize)]
struct OutCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: OutFunction<'a>,
}

#[derive(Serialize)]
struct OutFunction<'a> {
    name: &'a str,
    arguments: DisplayString<OrderedJson<'a>>,
}
