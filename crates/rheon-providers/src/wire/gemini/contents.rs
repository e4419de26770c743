//! Gemini `streamGenerateContent`: the conversation, as contents and parts.

use std::borrow::Cow;

use rheon_types::{Signature, SignatureKind};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::MADE_ID;
use super::generation::Generation;
use crate::fit::{Block, FitResult, Fitted, ResultBlock, Role};

/// What the service takes in place of a signature on calls that another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The whole conversation.
#[derive(Clone, Copy)]
pub(super) struct Contents<'a> {
    /// The conversation, fit to send.
    pub(super) fitted: &'a Fitted<'a>,
    /// Which rules the model follows.
    pub(super) generation: Generation,
}

impl Serialize for Contents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut contents = serializer.serialize_seq(None)?;
        for (role, blocks) in self.fitted.messages() {
            let role = match role {
                Role::User | Role::Tool => "user",
                Role::Assistant => "model",
            };
            contents
                .serialize_element(&Content { role, parts: Parts { blocks, generation: self.generation } })?;
        }
        // The service refuses a conversation that ends with the model's words.
        if let Some(text) = self.fitted.continuation() {
            let parts = [Part { text: Some(text), ..Part::default() }];
            contents.serialize_element(&Content { role: "user", parts })?;
        }
        contents.end()
    }
}

#[derive(Serialize)]
struct Content<T> {
    role: &'static str,
    parts: T,
}

struct Parts<'a> {
    blocks: &'a [Block<'a>],
    generation: Generation,
}

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut writer = PartWriter {
            seq: serializer.serialize_seq(None)?,
            generation: self.generation,
            next: None,
            called: false,
        };
        for block in self.blocks {
            writer.block(block)?;
        }
        writer.flush()?;
        writer.seq.end()
    }
}

/// Writes the parts of one message.
struct PartWriter<'a, Q> {
    seq: Q,
    generation: Generation,
    /// The signature that belongs to the next part.
    next: Option<&'a str>,
    /// Whether a call has been written.
    called: bool,
}

impl<'a, Q: SerializeSeq> PartWriter<'a, Q> {
    fn block(&mut self, block: &'a Block<'a>) -> Result<(), Q::Error> {
        match block {
            Block::Text(text) => {
                let thought_signature = self.next.take();
                self.part(&Part { text: Some(text), thought_signature, ..Part::default() })
            }
            Block::Image { data, mime_type } => self.image(data, mime_type),
            Block::Thinking { text, signature } => self.thinking(text, *signature),
            Block::Call { id, name, arguments } => self.call(id, name, arguments),
            Block::Result(result) => self.result(result),
        }
    }

    fn part(&mut self, part: &Part<'_>) -> Result<(), Q::Error> {
        self.seq.serialize_element(part)
    }

    /// A signature that no part follows stands with an empty text.
    fn flush(&mut self) -> Result<(), Q::Error> {
        match self.next.take() {
            Some(signature) => {
                self.part(&Part { text: Some(""), thought_signature: Some(signature), ..Part::default() })
            }
            None => Ok(()),
        }
    }

    fn image(&mut self, data: &str, mime_type: &str) -> Result<(), Q::Error> {
        self.part(&Part { inline_data: Some(InlineData { mime_type, data }), ..Part::default() })
    }

    fn thinking(&mut self, text: &str, signature: Option<&'a Signature>) -> Result<(), Q::Error> {
        self.flush()?;
        let thought_signature = signature.map(|signature| signature.data.as_str());
        match signature.map_or(SignatureKind::Proof, |signature| signature.kind) {
            SignatureKind::Next => {
                self.next = thought_signature;
                Ok(())
            }
            SignatureKind::Redacted => {
                self.part(&Part { text: Some(""), thought_signature, ..Part::default() })
            }
            SignatureKind::Proof => self.part(&Part {
                text: Some(text),
                thought: Some(true),
                thought_signature,
                ..Part::default()
            }),
        }
    }

    fn call(&mut self, id: &str, name: &str, args: &Value) -> Result<(), Q::Error> {
        // Of calls made at once only the first bears a signature.
        let missing = match self.generation {
            Generation::Three if !self.called => Some(NO_SIGNATURE),
            Generation::Two | Generation::Three => None,
        };
        self.called = true;
        let thought_signature = self.next.take().or(missing);
        let function_call = Some(FunctionCall { id: self.id(id), name, args });
        self.part(&Part { function_call, thought_signature, ..Part::default() })
    }

    fn result(&mut self, result: &FitResult<'_>) -> Result<(), Q::Error> {
        let text = result.text();
        let response = if result.is_error { Response::Error(text) } else { Response::Output(text) };
        let inside = match self.generation {
            Generation::Three => Some(Pictures(result)).filter(|_| result.images().next().is_some()),
            Generation::Two => None,
        };
        let beside = inside.is_none();
        let id = self.id(&result.id);
        let function_response = Some(FunctionResponse { id, name: &result.name, response, parts: inside });
        self.part(&Part { function_response, ..Part::default() })?;
        for picture in result.images().filter(|_| beside) {
            match picture {
                ResultBlock::Image { data, mime_type } => self.image(data, mime_type)?,
                ResultBlock::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Older models know no ids (Vertex refuses them), and what the service did not name is not named to it.
    fn id<'b>(&self, id: &'b str) -> Option<&'b str> {
        match self.generation {
            Generation::Three if !id.contains(MADE_ID) => Some(id),
            Generation::Two | Generation::Three => None,
        }
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: &'a Value,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Response<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Pictures<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Response<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

/// The pictures of a result, inside it.
struct Pictures<'a>(&'a FitResult<'a>);

impl Serialize for Pictures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.images().filter_map(|picture| match picture {
            ResultBlock::Image { data, mime_type } => {
                Some(Picture { inline_data: InlineData { mime_type, data } })
            }
            ResultBlock::Text(_) => None,
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Picture<'a> {
    inline_data: InlineData<'a>,
}
