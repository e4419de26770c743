//! Gemini `streamGenerateContent`: the conversation as contents and parts.

use std::borrow::Cow;

use rheon_types::{OrderedJson, Signature, SignatureKind};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::GENERATED_ID;
use super::generation::Generation;
use crate::history::{Block, PreparedHistory, PreparedResult, ResultBlock, Role};

/// The placeholder that the service accepts as the signature of calls by another model.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Clone, Copy)]
pub(super) struct Contents<'a> {
    pub(super) history: &'a PreparedHistory<'a>,
    /// The rules for the model.
    pub(super) generation: Generation,
}

impl Serialize for Contents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut contents = serializer.serialize_seq(None)?;
        for (role, blocks) in self.history.messages() {
            let role = match role {
                Role::User | Role::Tool => "user",
                Role::Assistant => "model",
            };
            contents
                .serialize_element(&Content { role, parts: Parts { blocks, generation: self.generation } })?;
        }
        // The service refuses a conversation that ends with the model.
        if let Some(text) = self.history.continuation() {
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
    /// The signature of the next part.
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
            Block::Call { id, name, arguments } => self.call(id, name, *arguments),
            Block::Result(result) => self.result(result),
        }
    }

    fn part(&mut self, part: &Part<'_>) -> Result<(), Q::Error> {
        self.seq.serialize_element(part)
    }

    /// A signature without a following part is sent with an empty text.
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

    fn call(&mut self, id: &str, name: &str, args: OrderedJson<'_>) -> Result<(), Q::Error> {
        // Of parallel calls, only the first has a signature.
        let missing = match self.generation {
            Generation::Three if !self.called => Some(NO_SIGNATURE),
            Generation::Two | Generation::Three => None,
        };
        self.called = true;
        let thought_signature = self.next.take().or(missing);
        let function_call = Some(FunctionCall { id: self.id(id), name, args });
        self.part(&Part { function_call, thought_signature, ..Part::default() })
    }

    fn result(&mut self, result: &PreparedResult<'_>) -> Result<(), Q::Error> {
        let text = result.text();
        let response = if result.is_error { Response::Error(text) } else { Response::Output(text) };
        let inside = match self.generation {
            Generation::Three => Some(ResultImages(result)).filter(|_| result.images().next().is_some()),
            Generation::Two => None,
        };
        let beside = inside.is_none();
        let id = self.id(&result.id);
        let function_response = Some(FunctionResponse { id, name: &result.name, response, parts: inside });
        self.part(&Part { function_response, ..Part::default() })?;
        for image_block in result.images().filter(|_| beside) {
            match image_block {
                ResultBlock::Image { data, mime_type } => self.image(data, mime_type)?,
                ResultBlock::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Older models have no ids (Vertex refuses them), and ids that we invented are not sent.
    fn id<'b>(&self, id: &'b str) -> Option<&'b str> {
        match self.generation {
            Generation::Three if !id.contains(GENERATED_ID) => Some(id),
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
    args: OrderedJson<'a>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Response<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<ResultImages<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Response<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

/// The images of a result, inside it.
struct ResultImages<'a>(&'a PreparedResult<'a>);

impl Serialize for ResultImages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.images().filter_map(|image_block| match image_block {
            ResultBlock::Image { data, mime_type } => {
                Some(ResultImage { inline_data: InlineData { mime_type, data } })
            }
            ResultBlock::Text(_) => None,
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultImage<'a> {
    inline_data: InlineData<'a>,
}
