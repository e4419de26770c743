//! `Scenario`: what a scripted provider plays, as data and as a builder.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::{ProviderError, Request, StopReason, ToolCallId, ToolName, Usage};
use serde_json::Value;

use super::choose::Condition;

/// What a [`ScriptedProvider`](super::ScriptedProvider) plays: turns, tried in order.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    pub(super) name: Option<String>,
    pub(super) model: Option<String>,
    pub(super) entries: Vec<Entry>,
}

/// An entry of a scenario.
#[derive(Clone)]
pub(super) enum Entry {
    Turn(Turn),
    Respond(Arc<Respond>),
}

/// Answers a request, or leaves it to later entries.
pub(super) type Respond = dyn Fn(&Request) -> Option<Turn> + Send + Sync;

impl Scenario {
    /// An empty scenario.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name used in messages.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the model name that responses report; `scripted` by default.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a turn. A string is a turn with that text.
    pub fn turn(mut self, turn: impl Into<Turn>) -> Self {
        self.entries.push(Entry::Turn(turn.into()));
        self
    }

    /// Adds a closure, called if no earlier entry matches. It can be used any number of times; conditions of the
    /// returned turn are ignored.
    pub fn respond(mut self, respond: impl Fn(&Request) -> Option<Turn> + Send + Sync + 'static) -> Self {
        self.entries.push(Entry::Respond(Arc::new(respond)));
        self
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(turn) => turn.fmt(f),
            Self::Respond(_) => f.write_str("Respond(..)"),
        }
    }
}

/// One response: its steps, and its condition. Used once, unless it repeats.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    pub(super) when: Condition,
    pub(super) repeat: bool,
    pub(super) steps: Vec<Step>,
    pub(super) usage: Option<Usage>,
    pub(super) stop: Option<StopReason>,
}

/// One step of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Text { text: String, chunking: Chunking },
    Thinking { text: String, signature: Option<String>, chunking: Chunking },
    ToolCall(CallStep),
    Delay(Duration),
    Error(ProviderError),
    Cut,
    Hang,
}

/// A tool call to stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallStep {
    pub(super) name: ToolName,
    /// Derived from the request number and the call index if absent.
    pub(super) id: Option<ToolCallId>,
    pub(super) arguments: Arguments,
    /// Whether the end of the call is never sent.
    pub(super) partial: bool,
    pub(super) chunking: Chunking,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Arguments {
    /// Serialized to JSON.
    Json(Value),
    /// Sent verbatim.
    Raw(String),
}

/// How text is split into deltas; never inside a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunking {
    /// As one delta.
    Whole,
    /// One word each, with the whitespace after it.
    Words,
    /// This many characters each.
    Chars(NonZeroUsize),
}

impl Turn {
    /// An empty response.
    pub fn new() -> Self {
        Self::default()
    }

    /// A response with one text: `Turn::new().text(text)`.
    pub fn say(text: impl Into<String>) -> Self {
        Self::new().text(text)
    }

    /// A response with one tool call: `Turn::new().tool_call(name, arguments)`.
    pub fn call(name: impl Into<ToolName>, arguments: Value) -> Self {
        Self::new().tool_call(name, arguments)
    }

    /// An immediate failure: `Turn::new().error(error)`.
    pub fn fail(error: ProviderError) -> Self {
        Self::new().error(error)
    }

    /// Streams `text`, one word at a time.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.step(Step::Text { text: text.into(), chunking: Chunking::Words })
    }

    /// Streams `text` as thinking, one word at a time.
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.step(Step::Thinking { text: text.into(), signature: None, chunking: Chunking::Words })
    }

    /// Streams `text` as thinking, followed by a signature.
    pub fn signed_thinking(self, text: impl Into<String>, signature: impl Into<String>) -> Self {
        let signature = Some(signature.into());
        self.step(Step::Thinking { text: text.into(), signature, chunking: Chunking::Words })
    }

    /// Calls a tool. The id is `call_{request number}_{index of the call in the turn}`.
    pub fn tool_call(self, name: impl Into<ToolName>, arguments: Value) -> Self {
        self.call_step(None, name.into(), Arguments::Json(arguments))
    }

    /// Calls a tool with this id, which may be empty or a duplicate.
    pub fn tool_call_with_id(
        self,
        id: impl Into<ToolCallId>,
        name: impl Into<ToolName>,
        arguments: Value,
    ) -> Self {
        self.call_step(Some(id.into()), name.into(), Arguments::Json(arguments))
    }

    /// Calls a tool with `raw` as the text of its arguments, valid or not.
    pub fn raw_tool_call(
        self,
        id: impl Into<ToolCallId>,
        name: impl Into<ToolName>,
        raw: impl Into<String>,
    ) -> Self {
        self.call_step(Some(id.into()), name.into(), Arguments::Raw(raw.into()))
    }

    /// Omits the end of the last tool call.
    pub fn partial(mut self) -> Self {
        if let Some(Step::ToolCall(call)) = self.steps.last_mut() {
            call.partial = true;
        }
        self
    }

    /// Splits the last text, thinking or tool call into pieces of `chars` characters (0 counts as 1).
    pub fn chunked(mut self, chars: usize) -> Self {
        let chars = Chunking::Chars(NonZeroUsize::new(chars).unwrap_or(NonZeroUsize::MIN));
        match self.steps.last_mut() {
            Some(Step::Text { chunking, .. } | Step::Thinking { chunking, .. }) => *chunking = chars,
            Some(Step::ToolCall(call)) => call.chunking = chars,
            Some(Step::Delay(_) | Step::Error(_) | Step::Cut | Step::Hang) | None => {}
        }
        self
    }

    /// Waits.
    pub fn delay(self, duration: Duration) -> Self {
        self.step(Step::Delay(duration))
    }

    /// Fails; later steps are ignored.
    pub fn error(self, error: ProviderError) -> Self {
        self.step(Step::Error(error))
    }

    /// Ends the stream without `Done`; later steps are ignored.
    pub fn cut(self) -> Self {
        self.step(Step::Cut)
    }

    /// Sends nothing until canceled; later steps are ignored.
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    /// Sets the reported token counts; none by default.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the stop reason. By default `ToolUse` if there is a tool call, otherwise `Stop`.
    pub fn stop(mut self, reason: StopReason) -> Self {
        self.stop = Some(reason);
        self
    }

    /// Lets the turn be used any number of times.
    pub fn repeat(mut self) -> Self {
        self.repeat = true;
        self
    }

    /// Only if the last message of the request contains `text`.
    pub fn when_last_text_contains(mut self, text: impl Into<String>) -> Self {
        self.when.last_text_contains = Some(text.into());
        self
    }

    /// Only if the request ends in tool results and one is from this tool. All conditions on tool results must hold
    /// for the same result.
    pub fn when_tool(mut self, name: impl Into<ToolName>) -> Self {
        self.when.tool = Some(name.into());
        self
    }

    /// Only if the request ends in tool results and one contains `text`.
    pub fn when_tool_result_contains(mut self, text: impl Into<String>) -> Self {
        self.when.tool_result_contains = Some(text.into());
        self
    }

    /// Only if the request ends in tool results and one is an error.
    pub fn when_tool_result_is_error(mut self) -> Self {
        self.when.tool_result_is_error = Some(true);
        self
    }

    /// Only if the request ends in tool results and one is not an error.
    pub fn when_tool_result_is_ok(mut self) -> Self {
        self.when.tool_result_is_error = Some(false);
        self
    }

    /// Only for request `number`, starting at 1.
    pub fn when_request(mut self, number: u64) -> Self {
        self.when.request = Some(number);
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    fn call_step(self, id: Option<ToolCallId>, name: ToolName, arguments: Arguments) -> Self {
        let chunking = Chunking::Whole;
        self.step(Step::ToolCall(CallStep { name, id, arguments, partial: false, chunking }))
    }
}

impl From<&str> for Turn {
    fn from(text: &str) -> Self {
        Self::say(text)
    }
}

impl From<String> for Turn {
    fn from(text: String) -> Self {
        Self::say(text)
    }
}
