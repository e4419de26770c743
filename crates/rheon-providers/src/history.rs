//! Prepares a conversation for one service. Pure; borrows the history without copying it.
//!
//! The result is valid no matter where the history came from: every tool call is followed by its result, every result
//! has a call; opaque thinking data goes only to the model that wrote it, other thinking becomes text; ids follow the
//! service's rule; images that the model cannot read become a note; no message is empty.

use std::borrow::Cow;
use std::collections::HashMap;

use rheon_types::{
    Content, Message, ModelInfo, OrderedJson, ProviderError, ProviderErrorKind, Request, Signature, ToolCall,
    ToolCallId, ToolResultMessage,
};
use serde_json::{Map, Value};

use crate::call_id::CallIdRule;
use crate::tool_name::ToolNameRule;

/// What a service requires of a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryRules<'a> {
    /// The target as `vendor/model`: signatures of this origin are sent, others are dropped.
    pub(crate) origin: &'a str,
    pub(crate) call_id: CallIdRule,
    pub(crate) tool_name: ToolNameRule,
    /// Whether roles must alternate: consecutive user messages and tool results are then merged.
    pub(crate) alternate: bool,
    pub(crate) image_support: ImageSupport,
    /// Which thinking is sent back.
    pub(crate) thinking: ThinkingFilter,
}

/// Which images a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageSupport {
    None,
    /// All; the next encoder checks them again.
    Any,
    /// Those of these types; the service refuses the whole request for any other.
    Of(&'static [&'static str]),
}

impl ImageSupport {
    /// Images of these types, if the model accepts images.
    pub(crate) fn new(sees: &ModelInfo, types: &'static [&'static str]) -> Self {
        if sees.images { Self::Of(types) } else { Self::None }
    }

    /// The image, or a note for the model in its place.
    fn show<'a>(self, data: &'a str, mime_type: &'a str) -> Result<(&'a str, &'a str), &'static str> {
        let types = match self {
            Self::None => return Err(IMAGE_OMITTED),
            Self::Any => return Ok((data, mime_type)),
            Self::Of(types) => types,
        };
        let normalized = if mime_type.eq_ignore_ascii_case("image/jpg") { "image/jpeg" } else { mime_type };
        match types.iter().find(|known| known.eq_ignore_ascii_case(normalized)) {
            Some(known) if !data.is_empty() => Ok((data, known)),
            Some(_) | None => Err(IMAGE_UNREADABLE),
        }
    }
}

/// Which of the model's own thinking is sent back. Thinking of other models becomes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingFilter {
    /// Only thinking with its own signature.
    Signed,
    /// All its own thinking, signed or not (matched by the provider name in the message).
    Plain,
    /// None of its own.
    None,
    /// None at all, not even other models' thinking.
    NoModel,
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The user; also tool results if roles alternate.
    User,
    Assistant,
    Tool,
}

/// A content block, ready to send.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block<'a> {
    /// Never blank: services refuse that.
    Text(Cow<'a, str>),
    /// A base64 image.
    Image {
        data: &'a str,
        /// For instance `image/png`.
        mime_type: &'a str,
    },
    Thinking {
        text: &'a str,
        /// What the service expects back with it.
        signature: Option<&'a Signature>,
    },
    Call {
        /// As the service accepts it.
        id: Cow<'a, str>,
        /// As the service accepts it.
        name: Cow<'a, str>,
        /// A JSON object.
        arguments: OrderedJson<'a>,
    },
    Result(PreparedResult<'a>),
}

/// The result of a tool call, ready to send.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PreparedResult<'a> {
    /// The id of the call, as the service accepts it.
    pub(crate) id: Cow<'a, str>,
    /// The name of the tool, as the service accepts it.
    pub(crate) name: Cow<'a, str>,
    /// Text and images, see [`FitResult::blocks`].
    content: &'a [Content],
    /// Which images the model accepts.
    image_support: ImageSupport,
    pub(crate) is_error: bool,
}

/// A text or image of a tool result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultBlock<'a> {
    /// Never blank: services refuse that.
    Text(&'a str),
    /// A base64 image.
    Image {
        data: &'a str,
        /// For instance `image/png`.
        mime_type: &'a str,
    },
}

/// A conversation, ready to send.
#[derive(Debug)]
pub(crate) struct PreparedHistory<'a> {
    blocks: Vec<Block<'a>>,
    spans: Vec<Span>,
    /// Whether the last block is a reminder, sent in this request only.
    reminded: bool,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    role: Role,
    end: usize,
}

/// What the model sees if a result is missing.
const LOST_RESULT: &str =
    "The result of this call was lost; it may or may not have run. Check before doing it again.";
/// What the model sees if a result has no text.
const EMPTY_RESULT: &str = "(no output)";
/// What the model sees if a message has no content that can be sent.
const EMPTY_MESSAGE: &str = "(empty message)";
/// What the model sees in place of an image.
const IMAGE_OMITTED: &str = "(an image was here; this model cannot see images)";
/// What the model sees in place of an image of an unsupported type.
const IMAGE_UNREADABLE: &str = "(an image was here; the service cannot read its format)";
/// Opens a conversation that would otherwise start with the assistant.
const OPENING: &str = "(the conversation continues)";

/// Sent as the user if the conversation ends with the assistant and the model cannot continue its own message.
pub(crate) const CONTINUE: &str = "Continue.";

impl<'a> PreparedHistory<'a> {
    /// Prepares the conversation of `request` by `rules`.
    pub(crate) fn new(request: &'a Request, rules: HistoryRules<'a>) -> Self {
        let messages = request.messages.len();
        let mut builder = HistoryBuilder {
            rules,
            history: Self {
                blocks: Vec::with_capacity(messages + messages / 2),
                spans: Vec::with_capacity(messages),
                reminded: false,
            },
            pending: Vec::new(),
            calls_by_id: HashMap::new(),
        };
        for message in request.messages.for_model() {
            builder.take(message);
        }
        builder.finish_calls();
        if let Some(reminder) =
            request.reminder.as_deref().filter(|blocks_sent| !blocks_sent.trim().is_empty())
        {
            builder.history.blocks.push(Block::Text(Cow::Borrowed(reminder)));
            builder.end(Role::User);
            builder.history.reminded = true;
        }
        builder.history
    }

    /// How many blocks of the message at `index` are part of the next request too.
    pub(crate) fn stable_blocks(&self, index: usize, blocks: &[Block<'_>]) -> usize {
        let is_reminded = self.reminded && index + 1 == self.spans.len();
        blocks.len() - usize::from(is_reminded)
    }

    /// An error if there is nothing to send, which services refuse in different ways.
    pub(crate) fn ensure_not_empty(&self) -> Result<(), ProviderError> {
        if !self.spans.is_empty() {
            return Ok(());
        }
        let message = "the conversation has no message to send; add a user message first";
        Err(ProviderError::new(ProviderErrorKind::InvalidRequest, message))
    }

    /// The user message to append if the conversation ends with the assistant and the service requires a user message
    /// there.
    pub(crate) fn continuation(&self) -> Option<&'static str> {
        match self.spans.last()?.role {
            Role::Assistant => Some(CONTINUE),
            Role::User | Role::Tool => None,
        }
    }

    /// The number of blocks, and the bytes of text and images without arguments.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.blocks.len(), self.blocks.iter().map(Block::bytes).sum())
    }

    /// The messages: role and blocks, at least one block each.
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

impl<'a> PreparedResult<'a> {
    /// The content of the result; at least one block.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = ResultBlock<'a>> + use<'a> {
        let image_support = self.image_support;
        let blocks_sent = self.content.iter().filter_map(move |block| match block {
            Content::Text { text } if text.trim().is_empty() => None,
            Content::Text { text } => Some(ResultBlock::Text(text)),
            Content::Image { data, mime_type } => Some(match image_support.show(data, mime_type) {
                Ok((data, mime_type)) => ResultBlock::Image { data, mime_type },
                Err(note) => ResultBlock::Text(note),
            }),
            Content::Thinking { .. } | Content::ToolCall(_) => None,
        });
        let placeholder = blocks_sent.clone().next().is_none().then_some(ResultBlock::Text(EMPTY_RESULT));
        blocks_sent.chain(placeholder)
    }

    /// All its text, one block per line; borrowed if there is only one.
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

    pub(crate) fn images(&self) -> impl Iterator<Item = ResultBlock<'a>> + use<'a> {
        self.blocks().filter(|block| matches!(block, ResultBlock::Image { .. }))
    }
}

/// The arguments of a call, as the model wrote them; always an object.
fn arguments(call: &ToolCall) -> OrderedJson<'_> {
    static EMPTY: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| Value::Object(Map::new()));
    if call.arguments.is_object() {
        call.ordered_arguments()
    } else {
        OrderedJson { value: &EMPTY, order: None }
    }
}

struct HistoryBuilder<'a> {
    rules: HistoryRules<'a>,
    history: PreparedHistory<'a>,
    /// The calls of the last assistant message, in order.
    pending: Vec<(&'a ToolCallId, &'a str)>,
    /// The same by id, with whether their result was seen.
    calls_by_id: HashMap<&'a ToolCallId, PendingCall<'a>>,
}

/// A call of the last assistant message.
struct PendingCall<'a> {
    name: &'a str,
    has_result: bool,
}

impl<'a> HistoryBuilder<'a> {
    fn take(&mut self, message: &'a Message) {
        match message {
            Message::User(user) => {
                self.finish_calls();
                let start = self.history.blocks.len();
                for block in &user.content {
                    self.user_block(block);
                }
                if self.history.blocks.len() == start {
                    self.history.blocks.push(Block::Text(Cow::Borrowed(EMPTY_MESSAGE)));
                }
                self.end(Role::User);
            }
            Message::Assistant(answer) => {
                self.finish_calls();
                let own =
                    self.rules.origin.split_once('/').is_some_and(|(vendor, _)| vendor == answer.provider);
                let start = self.history.blocks.len();
                if start == 0 && self.rules.alternate {
                    self.history.blocks.push(Block::Text(Cow::Borrowed(OPENING)));
                    self.end(Role::User);
                }
                let opened = self.history.blocks.len();
                for block in &answer.content {
                    self.answer_block(block, own);
                }
                if self.history.blocks.len() > opened {
                    self.end(Role::Assistant);
                } else if opened > start {
                    // Nothing of the message can be sent, so no opening is needed.
                    self.history.blocks.clear();
                    self.history.spans.clear();
                }
            }
            Message::ToolResult(result) => self.result(result),
        }
    }

    fn user_block(&mut self, block: &'a Content) {
        let block = match block {
            Content::Text { text } if text.trim().is_empty() => return,
            Content::Text { text } => Block::Text(Cow::Borrowed(text)),
            Content::Image { data, mime_type } => match self.rules.image_support.show(data, mime_type) {
                Ok((data, mime_type)) => Block::Image { data, mime_type },
                Err(note) => Block::Text(Cow::Borrowed(note)),
            },
            Content::Thinking { .. } | Content::ToolCall(_) => return,
        };
        self.history.blocks.push(block);
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
            // No service accepts two calls with the same id in one message, and their results would be ambiguous.
            Content::ToolCall(call) if self.calls_by_id.contains_key(&call.id) => return,
            Content::ToolCall(call) => {
                let name = call.name.as_str();
                self.pending.push((&call.id, name));
                self.calls_by_id.insert(&call.id, PendingCall { name, has_result: false });
                let id = self.rules.call_id.apply(call.id.as_str());
                let arguments = arguments(call);
                Block::Call { id, name: self.rules.tool_name.apply(name), arguments }
            }
            Content::Image { .. } => return,
        };
        self.history.blocks.push(block);
    }

    fn thinking(&self, text: &'a str, signature: Option<&'a Signature>, own: bool) -> Option<Block<'a>> {
        let readable = signature.filter(|signature| signature.origin == self.rules.origin);
        let as_is = match self.rules.thinking {
            ThinkingFilter::Signed => readable.is_some(),
            ThinkingFilter::Plain => readable.is_some() || (own && !text.is_empty()),
            ThinkingFilter::None if own || readable.is_some() => return None,
            ThinkingFilter::NoModel => return None,
            ThinkingFilter::None => false,
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
        let Some(pending) =
            self.calls_by_id.get_mut(&result.tool_call_id).filter(|pending| !pending.has_result)
        else {
            return;
        };
        pending.has_result = true;
        let name = self.rules.tool_name.apply(pending.name);
        let id = self.rules.call_id.apply(result.tool_call_id.as_str());
        let (content, is_error) = (result.content.as_slice(), result.is_error);
        self.push_result(PreparedResult {
            id,
            name,
            content,
            image_support: self.rules.image_support,
            is_error,
        });
    }

    /// Adds results for the calls of the last assistant message that have none.
    fn finish_calls(&mut self) {
        static LOST: std::sync::LazyLock<[Content; 1]> =
            std::sync::LazyLock::new(|| [Content::text(LOST_RESULT)]);
        let mut pending = std::mem::take(&mut self.pending);
        for (id, name) in pending.drain(..) {
            if self.calls_by_id.get(id).is_some_and(|pending| !pending.has_result) {
                let (id, name) = (self.rules.call_id.apply(id.as_str()), self.rules.tool_name.apply(name));
                let (content, image_support) = (LOST.as_slice(), ImageSupport::None);
                self.push_result(PreparedResult { id, name, content, image_support, is_error: true });
            }
        }
        self.calls_by_id.clear();
        self.pending = pending;
    }

    fn push_result(&mut self, result: PreparedResult<'a>) {
        self.history.blocks.push(Block::Result(result));
        self.end(Role::Tool);
    }

    /// Ends a message, or merges it into the previous one.
    fn end(&mut self, role: Role) {
        let role = if self.rules.alternate && role == Role::Tool { Role::User } else { role };
        let end = self.history.blocks.len();
        let joins = role == Role::Tool || self.rules.alternate;
        match self.history.spans.last_mut() {
            Some(last) if joins && last.role == role => last.end = end,
            Some(_) | None => self.history.spans.push(Span { role, end }),
        }
    }
}
