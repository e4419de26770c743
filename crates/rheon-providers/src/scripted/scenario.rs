//! `Scenario`: what a scripted provider plays, as data and as a builder.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::{ProviderError, Request, StopReason, ToolCallId, ToolName, Usage};
use serde_json::Value;

use super::choose::Condition;

/// What a [`ScriptedProvider`](super::ScriptedProvider) plays: turns, in the order in which they are tried.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    pub(super) name: Option<String>,
    pub(super) model: Option<String>,
    pub(super) entries: Vec<Entry>,
}

/// One place in the list of a scenario.
#[derive(Clone)]
pub(super) enum Entry {
    Turn(Turn),
    Respond(Arc<Respond>),
}

/// Answers a request, or leaves it to the entries after it.
pub(super) type Respond = dyn Fn(&Request) -> Option<Turn> + Send + Sync;

impl Scenario {
    /// A scenario without turns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the scenario in messages.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The model that the answers say they come from; `scripted` unless set.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a turn. A plain text is a turn that says it.
    pub fn turn(mut self, turn: impl Into<Turn>) -> Self {
        self.entries.push(Entry::Turn(turn.into()));
        self
    }

    /// Adds a closure, tried whenever no entry before it fits. It is never used up; the conditions of a turn that it
    /// returns are not looked at.
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

/// One answer: its steps, and when to give it. Used once, unless it repeats.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    pub(super) when: Condition,
    pub(super) repeat: bool,
    pub(super) steps: Vec<Step>,
    pub(super) usage: Option<Usage>,
    pub(super) stop: Option<StopReason>,
}

/// One thing that a stream does.
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
    /// Made of the request's number and the call's index where absent.
    pub(super) id: Option<ToolCallId>,
    pub(super) arguments: Arguments,
    /// Whether the stream never says that the call is complete.
    pub(super) partial: bool,
    pub(super) chunking: Chunking,
}

/// The arguments of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Arguments {
    /// Sent as JSON.
    Json(Value),
    /// Sent as it stands.
    Raw(String),
}

/// How a text is cut into deltas; never inside a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunking {
    /// All at once.
    Whole,
    /// One word each, with the white space after it.
    Words,
    /// So many characters each.
    Chars(NonZeroUsize),
}

impl Turn {
    /// An empty answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer of one text: `Turn::new().text(text)`.
    pub fn say(text: impl Into<String>) -> Self {
        Self::new().text(text)
    }

    /// An answer of one tool call: `Turn::new().tool_call(name, arguments)`.
    pub fn call(name: impl Into<ToolName>, arguments: Value) -> Self {
        Self::new().tool_call(name, arguments)
    }

    /// A failure at once: `Turn::new().error(error)`.
    pub fn fail(error: ProviderError) -> Self {
        Self::new().error(error)
    }

    /// Says `text`, one word at a time.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.step(Step::Text { text: text.into(), chunking: Chunking::Words })
    }

    /// Thinks `text`, one word at a time.
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.step(Step::Thinking { text: text.into(), signature: None, chunking: Chunking::Words })
    }

    /// Thinks `text` and signs it.
    pub fn signed_thinking(self, text: impl Into<String>, signature: impl Into<String>) -> Self {
        let signature = Some(signature.into());
        self.step(Step::Thinking { text: text.into(), signature, chunking: Chunking::Words })
    }

    /// Calls a tool. The id is `call_{number of the request}_{index of the call in the turn}`.
    pub fn tool_call(self, name: impl Into<ToolName>, arguments: Value) -> Self {
        self.call_step(None, name.into(), Arguments::Json(arguments))
    }

    /// Calls a tool under an id, which may be empty or taken.
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

    /// The last tool call is never said to be complete.
    pub fn partial(mut self) -> Self {
        if let Some(Step::ToolCall(call)) = self.steps.last_mut() {
            call.partial = true;
        }
        self
    }

    /// The last text, thinking or tool call comes in pieces of `chars` characters (0 counts as 1).
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

    /// Fails; no later step is played.
    pub fn error(self, error: ProviderError) -> Self {
        self.step(Step::Error(error))
    }

    /// Ends without saying so; no later step is played.
    pub fn cut(self) -> Self {
        self.step(Step::Cut)
    }

    /// Falls silent until it is cancelled; no later step is played.
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    /// The token counts to report; none are reported unless set.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// The stop reason to report. Unless set: `ToolUse` if there is a tool call, else `Stop`.
    pub fn stop(mut self, reason: StopReason) -> Self {
        self.stop = Some(reason);
        self
    }

    /// The turn is never used up.
    pub fn repeat(mut self) -> Self {
        self.repeat = true;
        self
    }

    /// Only if the last message of the request contains `text`.
    pub fn when_last_text_contains(mut self, text: impl Into<String>) -> Self {
        self.when.last_text_contains = Some(text.into());
        self
    }

    /// Only if the request ends in tool results and one is of this tool. This and the other conditions on a tool result
    /// must hold for the same result.
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

    /// Only if the request ends in tool results and one is no error.
    pub fn when_tool_result_is_ok(mut self) -> Self {
        self.when.tool_result_is_error = Some(false);
        self
    }

    /// Only for the `number`th request, from 1.
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
