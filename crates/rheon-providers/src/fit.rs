//! History hygiene: a conversation as one service may be sent it. Pure; borrows the history and copies none of it.
//!
//! Whoever wrote the history, what comes out is fit to send: every tool call has its result right after it, every result
//! its call; opaque thinking data goes only to the model that wrote it, other thinking is lowered to text; ids follow the
//! service's rule; pictures that the model cannot see become a note; no message is empty.

use std::borrow::Cow;
use std::collections::HashMap;

use rheon_types::{
    Content, Message, ModelInfo, ProviderError, ProviderErrorKind, Request, Signature, ToolCallId,
    ToolResultMessage,
};
use serde_json::{Map, Value};

use crate::call_id::CallIdRule;
use crate::tool_name::ToolNameRule;

/// What a service asks of a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitRules<'a> {
    /// Who is asked, as `vendor/model`: signatures of this origin are sent, others dropped.
    pub(crate) origin: &'a str,
    /// Which ids it takes.
    pub(crate) call_id: CallIdRule,
    /// Which names of tools it takes.
    pub(crate) tool_name: ToolNameRule,
    /// Whether roles must alternate: consecutive messages of the user and tool results then become one.
    pub(crate) alternate: bool,
    /// Which pictures the model sees.
    pub(crate) pictures: Pictures,
    /// Which thinking goes back.
    pub(crate) thinking: FitThinking,
}

/// Which pictures a model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pictures {
    /// None.
    None,
    /// All; whoever sends them looks at them again.
    Any,
    /// Those of these types; a service refuses the whole request for another.
    Of(&'static [&'static str]),
}

impl Pictures {
    /// Those of `types`, if the model sees any.
    pub(crate) fn new(sees: &ModelInfo, types: &'static [&'static str]) -> Self {
        if sees.images { Self::Of(types) } else { Self::None }
    }

    /// A picture, or what the model reads in its place.
    fn show<'a>(self, data: &'a str, mime_type: &'a str) -> Result<(&'a str, &'a str), &'static str> {
        let types = match self {
            Self::None => return Err(IMAGE_OMITTED),
            Self::Any => return Ok((data, mime_type)),
            Self::Of(types) => types,
        };
        let wanted = if mime_type.eq_ignore_ascii_case("image/jpg") { "image/jpeg" } else { mime_type };
        match types.iter().find(|known| known.eq_ignore_ascii_case(wanted)) {
            Some(known) if !data.is_empty() => Ok((data, known)),
            Some(_) | None => Err(IMAGE_UNREADABLE),
        }
    }
}

/// Which of the model's own thinking goes back to it. Thinking of other models is lowered to text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FitThinking {
    /// That which carries a signature of its own.
    Signed,
    /// All that it wrote itself, signed or not (matched by the provider's name in the message).
    Plain,
    /// None: it is left out.
    None,
    /// None, and of other models' thinking none either.
    Nobody,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The user; where roles alternate, tool results too.
    User,
    /// The model.
    Assistant,
    /// The tools.
    Tool,
}

/// One block, fit to send.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block<'a> {
    /// Text, never blank: services refuse that.
    Text(Cow<'a, str>),
    /// A picture, base64.
    Image {
        /// The bytes.
        data: &'a str,
        /// For instance `image/png`.
        mime_type: &'a str,
    },
    /// The model's own thinking.
    Thinking {
        /// What it thought.
        text: &'a str,
        /// What the service wants back with it.
        signature: Option<&'a Signature>,
    },
    /// A tool call.
    Call {
        /// Its id, as the service takes it.
        id: Cow<'a, str>,
        /// The tool, as the service takes its name.
        name: Cow<'a, str>,
        /// A JSON object.
        arguments: &'a Value,
    },
    /// The result of a tool call.
    Result(FitResult<'a>),
}

/// The result of a tool call, fit to send.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FitResult<'a> {
    /// The id of the call, as the service takes it.
    pub(crate) id: Cow<'a, str>,
    /// The tool, as the service takes its name.
    pub(crate) name: Cow<'a, str>,
    /// What it says: texts and pictures, see [`FitResult::blocks`].
    content: &'a [Content],
    /// Which pictures the model sees.
    pictures: Pictures,
    /// Whether the call failed.
    pub(crate) is_error: bool,
}

/// One text or picture of a tool result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultBlock<'a> {
    /// Text, never blank: services refuse that.
    Text(&'a str),
    /// A picture, base64.
    Image {
        /// The bytes.
        data: &'a str,
        /// For instance `image/png`.
        mime_type: &'a str,
    },
}

/// A conversation, fit to send.
#[derive(Debug)]
pub(crate) struct Fitted<'a> {
    blocks: Vec<Block<'a>>,
    spans: Vec<Span>,
    /// Whether the last block is said in this request only.
    reminded: bool,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    role: Role,
    end: usize,
}

/// What the model reads where a result is missing.
const LOST_RESULT: &str =
    "The result of this call was lost; it may or may not have run. Check before doing it again.";
/// What the model reads where a result has no text.
const EMPTY_RESULT: &str = "(no output)";
/// What the model reads where a message has nothing that can be sent.
const EMPTY_MESSAGE: &str = "(empty message)";
/// What the model reads where a picture was.
const IMAGE_OMITTED: &str = "(an image was here; this model cannot see images)";
/// What the model reads where a picture of a kind was that the service does not take.
const IMAGE_UNREADABLE: &str = "(an image was here; the service cannot read its format)";
/// What opens a conversation that would begin with the model's own words.
const OPENING: &str = "(the conversation continues)";

/// What the user says where the conversation ends with the model's words and the model cannot go on writing them.
pub(crate) const CONTINUE: &str = "Continue.";

impl<'a> Fitted<'a> {
    /// The conversation of `request` under `rules`.
    pub(crate) fn new(request: &'a Request, rules: FitRules<'a>) -> Self {
        let messages = request.messages.len();
        let mut fitting = Fitting {
            rules,
            fitted: Self {
                blocks: Vec::with_capacity(messages + messages / 2),
                spans: Vec::with_capacity(messages),
                reminded: false,
            },
            due: Vec::new(),
            places: HashMap::new(),
        };
        for message in request.messages.for_model() {
            fitting.take(message);
        }
        fitting.settle();
        if let Some(reminder) = request.reminder.as_deref().filter(|said| !said.trim().is_empty()) {
            fitting.fitted.blocks.push(Block::Text(Cow::Borrowed(reminder)));
            fitting.end(Role::User);
            fitting.fitted.reminded = true;
        }
        fitting.fitted
    }

    /// How many of the blocks of the message at `place` are said in the next request too.
    pub(crate) fn lasting(&self, place: usize, blocks: &[Block<'_>]) -> usize {
        let is_reminded = self.reminded && place + 1 == self.spans.len();
        blocks.len() - usize::from(is_reminded)
    }

    /// An error if there is nothing to send, which every service refuses in words of its own.
    pub(crate) fn ensure_said(&self) -> Result<(), ProviderError> {
        if !self.spans.is_empty() {
            return Ok(());
        }
        let message = "the conversation has no message to send; add one of the user first";
        Err(ProviderError::new(ProviderErrorKind::InvalidRequest, message))
    }

    /// What the user says after the model's words, where they end the conversation and the service wants the user's there.
    pub(crate) fn continuation(&self) -> Option<&'static str> {
        match self.spans.last()?.role {
            Role::Assistant => Some(CONTINUE),
            Role::User | Role::Tool => None,
        }
    }

    /// How many blocks there are, and how many bytes of text and pictures, arguments left out.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.blocks.len(), self.blocks.iter().map(Block::bytes).sum())
    }

    /// The messages: who speaks, and the blocks, of which there is at least one.
    pub(crate) fn messages(&self) -> impl ExactSizeIterator<Item = (Role, &[Block<'a>])> {
        let mut start = 0;
        self.spans.iter().map(move |span| {
            let blocks = self.blocks.get(start..span.end).unwrap_or_default();
            start = span.end;
            (span.role, blocks)
        })
    }
}

impl Block<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Image { data, .. } => data.len(),
            Self::Thinking { text, signature } => {
                text.len() + signature.map_or(0, |signature| signature.data.len())
            }
            Self::Call { id, name, .. } => id.len() + name.len(),
            Self::Result(result) => {
                result.id.len() + result.content.iter().map(Content::bytes).sum::<usize>()
            }
        }
    }
}

impl<'a> FitResult<'a> {
    /// What the result says; at least one block.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = ResultBlock<'a>> + use<'a> {
        let pictures = self.pictures;
        let said = self.content.iter().filter_map(move |block| match block {
            Content::Text { text } if text.trim().is_empty() => None,
            Content::Text { text } => Some(ResultBlock::Text(text)),
            Content::Image { data, mime_type } => Some(match pictures.show(data, mime_type) {
                Ok((data, mime_type)) => ResultBlock::Image { data, mime_type },
                Err(note) => ResultBlock::Text(note),
            }),
            Content::Thinking { .. } | Content::ToolCall(_) => None,
        });
        let nothing = said.clone().next().is_none().then_some(ResultBlock::Text(EMPTY_RESULT));
        said.chain(nothing)
    }

    /// All its texts, one per line; borrowed where there is only one.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        let mut texts = self.blocks().filter_map(|block| match block {
            ResultBlock::Text(text) => Some(text),
            ResultBlock::Image { .. } => None,
        });
        let mut joined = Cow::Borrowed(texts.next().unwrap_or_default());
        for text in texts {
            let joined = joined.to_mut();
            joined.push('\n');
            joined.push_str(text);
        }
        joined
    }

    /// Its pictures.
    pub(crate) fn images(&self) -> impl Iterator<Item = ResultBlock<'a>> + use<'a> {
        self.blocks().filter(|block| matches!(block, ResultBlock::Image { .. }))
    }
}

/// The arguments of a call: an object, whatever the history says.
fn arguments(written: &Value) -> &Value {
    static EMPTY: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| Value::Object(Map::new()));
    if written.is_object() { written } else { &EMPTY }
}

struct Fitting<'a> {
    rules: FitRules<'a>,
    fitted: Fitted<'a>,
    /// The calls of the last answer, in order.
    due: Vec<(&'a ToolCallId, &'a str)>,
    /// The same by their ids, with whether they have their result.
    places: HashMap<&'a ToolCallId, Due<'a>>,
}

/// A call of the last answer.
struct Due<'a> {
    name: &'a str,
    answered: bool,
}

impl<'a> Fitting<'a> {
    fn take(&mut self, message: &'a Message) {
        match message {
            Message::User(user) => {
                self.settle();
                let start = self.fitted.blocks.len();
                for block in &user.content {
                    self.user_block(block);
                }
                if self.fitted.blocks.len() == start {
                    self.fitted.blocks.push(Block::Text(Cow::Borrowed(EMPTY_MESSAGE)));
                }
                self.end(Role::User);
            }
            Message::Assistant(answer) => {
                self.settle();
                let own =
                    self.rules.origin.split_once('/').is_some_and(|(vendor, _)| vendor == answer.provider);
                let start = self.fitted.blocks.len();
                if start == 0 && self.rules.alternate {
                    self.fitted.blocks.push(Block::Text(Cow::Borrowed(OPENING)));
                    self.end(Role::User);
                }
                let opened = self.fitted.blocks.len();
                for block in &answer.content {
                    self.answer_block(block, own);
                }
                if self.fitted.blocks.len() > opened {
                    self.end(Role::Assistant);
                } else if opened > start {
                    // Nothing of the answer can be sent, so nothing needs an opening.
                    self.fitted.blocks.clear();
                    self.fitted.spans.clear();
                }
            }
            Message::ToolResult(result) => self.result(result),
        }
    }

    fn user_block(&mut self, block: &'a Content) {
        let block = match block {
            Content::Text { text } if text.trim().is_empty() => return,
            Content::Text { text } => Block::Text(Cow::Borrowed(text)),
            Content::Image { data, mime_type } => match self.rules.pictures.show(data, mime_type) {
                Ok((data, mime_type)) => Block::Image { data, mime_type },
                Err(note) => Block::Text(Cow::Borrowed(note)),
            },
            Content::Thinking { .. } | Content::ToolCall(_) => return,
        };
        self.fitted.blocks.push(block);
    }

    fn answer_block(&mut self, block: &'a Content, own: bool) {
        let block = match block {
            Content::Text { text } if text.trim().is_empty() => return,
            Content::Text { text } => Block::Text(Cow::Borrowed(text)),
            Content::Thinking { thinking, signature } => {
                match self.thinking(thinking, signature.as_ref(), own) {
                    Some(block) => block,
                    None => return,
                }
            }
            // No service takes two calls of one id in an answer, and a result could not tell them apart.
            Content::ToolCall(call) if self.places.contains_key(&call.id) => return,
            Content::ToolCall(call) => {
                let name = call.name.as_str();
                self.due.push((&call.id, name));
                self.places.insert(&call.id, Due { name, answered: false });
                let id = self.rules.call_id.apply(call.id.as_str());
                let arguments = arguments(&call.arguments);
                Block::Call { id, name: self.rules.tool_name.apply(name), arguments }
            }
            Content::Image { .. } => return,
        };
        self.fitted.blocks.push(block);
    }

    fn thinking(&self, text: &'a str, signature: Option<&'a Signature>, own: bool) -> Option<Block<'a>> {
        let readable = signature.filter(|signature| signature.origin == self.rules.origin);
        let as_is = match self.rules.thinking {
            FitThinking::Signed => readable.is_some(),
            FitThinking::Plain => readable.is_some() || (own && !text.is_empty()),
            FitThinking::None if own || readable.is_some() => return None,
            FitThinking::Nobody => return None,
            FitThinking::None => false,
        };
        if as_is {
            Some(Block::Thinking { text, signature: readable })
        } else if text.trim().is_empty() {
            None
        } else {
            Some(Block::Text(Cow::Owned(format!("<thinking>\n{text}\n</thinking>"))))
        }
    }

    fn result(&mut self, result: &'a ToolResultMessage) {
        let Some(due) = self.places.get_mut(&result.tool_call_id).filter(|due| !due.answered) else { return };
        due.answered = true;
        let name = self.rules.tool_name.apply(due.name);
        let id = self.rules.call_id.apply(result.tool_call_id.as_str());
        let (content, is_error) = (result.content.as_slice(), result.is_error);
        self.push_result(FitResult { id, name, content, pictures: self.rules.pictures, is_error });
    }

    /// Answers the calls of the last answer that have no result.
    fn settle(&mut self) {
        static LOST: std::sync::LazyLock<[Content; 1]> =
            std::sync::LazyLock::new(|| [Content::text(LOST_RESULT)]);
        let mut due = std::mem::take(&mut self.due);
        for (id, name) in due.drain(..) {
            if self.places.get(id).is_some_and(|due| !due.answered) {
                let (id, name) = (self.rules.call_id.apply(id.as_str()), self.rules.tool_name.apply(name));
                let (content, pictures) = (LOST.as_slice(), Pictures::None);
                self.push_result(FitResult { id, name, content, pictures, is_error: true });
            }
        }
        self.places.clear();
        self.due = due;
    }

    fn push_result(&mut self, result: FitResult<'a>) {
        self.fitted.blocks.push(Block::Result(result));
        self.end(Role::Tool);
    }

    /// Ends a message, or makes it part of the one before it.
    fn end(&mut self, role: Role) {
        let role = if self.rules.alternate && role == Role::Tool { Role::User } else { role };
        let end = self.fitted.blocks.len();
        let joins = role == Role::Tool || self.rules.alternate;
        match self.fitted.spans.last_mut() {
            Some(last) if joins && last.role == role => last.end = end,
            Some(_) | None => self.fitted.spans.push(Span { role, end }),
        }
    }
}
