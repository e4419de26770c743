//! The input items of a Responses request, serialized from the borrowed conversation.

use rheon_types::{OrderedJson, Signature, SignatureKind};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::history::{Block, PreparedHistory, PreparedResult, ResultBlock, Role};
use crate::wire::openai::{DataUrl, DisplayString, error_mark, result_text};

/// The text before the images of a failed call without text.
const FAILED: &str = "Error: the call failed";

/// The conversation as items.
pub(super) struct Input<'a> {
    pub(super) history: &'a PreparedHistory<'a>,
}

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        for (role, blocks) in self.history.messages() {
            match role {
                Role::User => {
                    items.serialize_element(&Item::Message { role: "user", content: User { blocks } })?
                }
                Role::Assistant => answer(&mut items, blocks)?,
                Role::Tool => results(&mut items, blocks)?,
            }
        }
        items.end()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a, T> {
    Message {
        role: &'static str,
        content: T,
    },
    Reasoning {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        summary: Summary<'a>,
        encrypted_content: &'a str,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: DisplayString<OrderedJson<'a>>,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: T,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a, T> {
    InputText { text: T },
    OutputText { text: T },
    SummaryText { text: T },
    InputImage { image_url: DataUrl<'a>, detail: &'static str },
}

impl<'a, T> Part<'a, T> {
    fn image(mime_type: &'a str, data: &'a str) -> Self {
        Self::InputImage { image_url: DataUrl { mime_type, data }, detail: "auto" }
    }
}

struct User<'a> {
    blocks: &'a [Block<'a>],
}

impl Serialize for User<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(Part::InputText { text: &**text }),
            Block::Image { data, mime_type } => Some(Part::image(mime_type, data)),
            Block::Thinking { .. } | Block::Call { .. } | Block::Result(_) => None,
        }))
    }
}

struct Summary<'a>(&'a str);

impl Serialize for Summary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = Some(self.0).filter(|text| !text.is_empty());
        serializer.collect_seq(text.map(|text| Part::SummaryText { text }))
    }
}

/// The items of an assistant message. Reasoning that nothing follows is omitted: the service refuses it.
fn answer<S: SerializeSeq>(items: &mut S, blocks: &[Block<'_>]) -> Result<(), S::Error> {
    let is_output = |block: &Block<'_>| matches!(block, Block::Text(_) | Block::Call { .. });
    let last_output = blocks.iter().rposition(is_output);
    for (index, block) in blocks.iter().enumerate() {
        match block {
            Block::Text(text) => {
                let content = [Part::OutputText { text: &**text }];
                items.serialize_element(&Item::Message { role: "assistant", content })?;
            }
            Block::Thinking { text, signature: Some(signature) } if Some(index) < last_output => {
                reasoning(items, text, signature)?;
            }
            Block::Call { id, name, arguments } => {
                let arguments = DisplayString(*arguments);
                let item: Item<'_, ()> = Item::FunctionCall { call_id: id, name, arguments };
                items.serialize_element(&item)?;
            }
            Block::Thinking { .. } | Block::Image { .. } | Block::Result(_) => {}
        }
    }
    Ok(())
}

/// Without encrypted content, the service cannot read reasoning back: it stores none.
fn reasoning<S: SerializeSeq>(items: &mut S, text: &str, signature: &Signature) -> Result<(), S::Error> {
    match signature.kind {
        SignatureKind::Proof if !signature.data.is_empty() => {
            let (id, summary) = (signature.id.as_deref(), Summary(text));
            let item: Item<'_, ()> = Item::Reasoning { id, summary, encrypted_content: &signature.data };
            items.serialize_element(&item)
        }
        SignatureKind::Proof | SignatureKind::Redacted | SignatureKind::Next => Ok(()),
    }
}

fn results<S: SerializeSeq>(items: &mut S, blocks: &[Block<'_>]) -> Result<(), S::Error> {
    for block in blocks {
        let Block::Result(result) = block else { continue };
        let call_id = &*result.id;
        if result.images().next().is_none() {
            let output = DisplayString(result_text(result));
            items.serialize_element(&Item::FunctionCallOutput { call_id, output })?;
        } else {
            items.serialize_element(&Item::FunctionCallOutput { call_id, output: MixedResult { result } })?;
        }
    }
    Ok(())
}

/// A result with images.
struct MixedResult<'a> {
    result: &'a PreparedResult<'a>,
}

impl Serialize for MixedResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_seq(None)?;
        for (index, block) in self.result.blocks().enumerate() {
            match block {
                ResultBlock::Text(text) => {
                    let mark = if index == 0 { error_mark(self.result, text) } else { "" };
                    let text = DisplayString(format_args!("{mark}{text}"));
                    parts.serialize_element(&Part::InputText { text })?;
                }
                ResultBlock::Image { data, mime_type } => {
                    if index == 0 && self.result.is_error {
                        parts.serialize_element(&Part::InputText { text: FAILED })?;
                    }
                    parts.serialize_element(&Part::<'_, &str>::image(mime_type, data))?;
                }
            }
        }
        parts.end()
    }
}
