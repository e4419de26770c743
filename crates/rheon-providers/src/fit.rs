//! History hygiene: a conversation as one service may be sent it. Pure; borrows the history and copies none of it.
//!
//! Whoever wrote the history, what comes out is fit to send: every tool call has its result right after it, every result
//! its call; opaque thinking data goes only to the model that wrote it, other thinking is lowered to text; ids follow the
//! service's rule; pictures that the model cannot see become a note; no message is empty.

use std::borrow::Cow;
use std::collections::HashSet;

use rheon_types::{Content, Message, Request, Signature, ToolCallId, ToolResultMessage};
use serde_json::Value;

use crate::call_id::CallIdRule;

/// What a service asks of a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitRules<'a> {
    /// Who is asked, as `vendor/model`: signatures of this origin are sent, others dropped.
    pub(crate) origin: &'a str,
    /// Which ids it takes.
    pub(crate) call_id: CallIdRule,
    /// Whether roles must alternate: consecutive messages of the user and tool results then become one.
    pub(crate) alternate: bool,
    /// Whether the model sees pictures.
    pub(crate) images: bool,
    /// Which thinking goes back.
    pub(crate) thinking: FitThinking,
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
        /// The tool.
        name: &'a str,
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
    /// The tool.
    pub(crate) name: &'a str,
    /// What it says: texts and pictures, see [`FitResult::blocks`].
    content: &'a [Content],
    /// Whether the model sees pictures.
    images: bool,
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
/// What opens a conversation that would begin with the model's own words.
const OPENING: &str = "(the conversation continues)";

impl<'a> Fitted<'a> {
    /// The conversation of `request` under `rules`.
    pub(crate) fn new(request: &'a Request, rules: FitRules<'a>) -> Self {
        let messages = request.messages.len();
        let mut fitting = Fitting {
            rules,
            fitted: Self {
                blocks: Vec::with_capacity(messages + messages / 2),
                spans: Vec::with_capacity(messages),
            },
            due: Vec::new(),
            answered: HashSet::new(),
        };
        for message in request.messages.for_model() {
            fitting.take(message);
        }
        fitting.settle();
        fitting.fitted
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

impl<'a> FitResult<'a> {
    /// What the result says; at least one block.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = ResultBlock<'a>> + use<'a> {
        let images = self.images;
        let said = self.content.iter().filter_map(move |block| match block {
            Content::Text { text } if text.trim().is_empty() => None,
            Content::Text { text } => Some(ResultBlock::Text(text)),
            Content::Image { data, mime_type } if images => Some(ResultBlock::Image { data, mime_type }),
            Content::Image { .. } => Some(ResultBlock::Text(IMAGE_OMITTED)),
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
        let Some(first) = texts.next() else { return Cow::Borrowed("") };
        texts.fold(Cow::Borrowed(first), |joined, text| Cow::Owned(format!("{joined}\n{text}")))
    }

    /// Its pictures.
    pub(crate) fn images(&self) -> impl Iterator<Item = ResultBlock<'a>> + use<'a> {
        self.blocks().filter(|block| matches!(block, ResultBlock::Image { .. }))
    }
}

struct Fitting<'a> {
    rules: FitRules<'a>,
    fitted: Fitted<'a>,
    /// The calls of the last answer.
    due: Vec<(&'a ToolCallId, &'a str)>,
    /// Those of them that have their result.
    answered: HashSet<&'a ToolCallId>,
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
            Content::Image { data, mime_type } if self.rules.images => Block::Image { data, mime_type },
            Content::Image { .. } => Block::Text(Cow::Borrowed(IMAGE_OMITTED)),
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
            Content::ToolCall(call) if self.due.iter().any(|(id, _)| **id == call.id) => return,
            Content::ToolCall(call) => {
                let name = call.name.as_str();
                self.due.push((&call.id, name));
                let id = self.rules.call_id.apply(call.id.as_str());
                Block::Call { id, name, arguments: &call.arguments }
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
        let Some((id, name)) = self.due.iter().find(|(id, _)| **id == result.tool_call_id).copied() else {
            return;
        };
        if self.answered.insert(id) {
            let id = self.rules.call_id.apply(id.as_str());
            let (content, is_error) = (result.content.as_slice(), result.is_error);
            self.push_result(FitResult { id, name, content, images: self.rules.images, is_error });
        }
    }

    /// Answers the calls of the last answer that have no result.
    fn settle(&mut self) {
        static LOST: std::sync::LazyLock<[Content; 1]> =
            std::sync::LazyLock::new(|| [Content::text(LOST_RESULT)]);
        let mut due = std::mem::take(&mut self.due);
        for (id, name) in due.drain(..) {
            if !self.answered.remove(id) {
                let id = self.rules.call_id.apply(id.as_str());
                self.push_result(FitResult { id, name, content: &*LOST, images: false, is_error: true });
            }
        }
        self.answered.clear();
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
