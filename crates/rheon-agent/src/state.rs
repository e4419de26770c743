//! `RunState`: all that changes during a run, as plain data.

use std::sync::Arc;

use rheon_types::event::ApprovalRequest;
use rheon_types::{
    AgentMessage, ApprovalId, AssistantMessage, CallFacts, ContinuationKind, Draft, History, MicroUsd,
    StopReason, ToolCall, ToolCallId, ToolResult, TurnTrigger, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call_ids::CallIds;
use crate::conversation::Conversation;
use crate::meter::PromptMeter;

/// All that changes during a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunState {
    /// The conversation, this run's messages included.
    pub(crate) conversation: Conversation,
    /// Prompts that no turn has taken in yet.
    pub(crate) prompts: Vec<Arc<AgentMessage>>,
    /// The messages of this run.
    pub(crate) produced: Vec<Arc<AgentMessage>>,
    /// How many turns were begun.
    pub(crate) turns: u32,
    /// Tokens of all turns.
    pub(crate) usage: Usage,
    /// Money for all turns.
    pub(crate) bill: Bill,
    /// When the run began, by the measuring clock.
    pub(crate) started_ms: u64,
    /// Ids of tool calls that are taken.
    pub(crate) call_ids: CallIds,
    /// Tokens that count against the limit: as reported, or estimated where nothing is reported.
    pub(crate) tokens_spent: u64,
    /// What is known of ends.
    pub(crate) stops: StopState,
    /// Whether the conversation ends with something the model has to answer.
    pub(crate) expects_answer: bool,
    /// The turn that is under way.
    pub(crate) turn: Option<OpenTurn>,
}

/// How the model ended, and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StopState {
    /// Why the model ended its last message.
    pub(crate) last: Option<StopReason>,
    /// How often in a row hooks have kept the run from stopping.
    pub(crate) vetoes: u32,
    /// What the model has to hear before it may stop.
    pub(crate) note: Option<String>,
    /// How often in a row the model was asked to finish what it left open.
    pub(crate) nudges: u32,
    /// How often it was asked for an answer of the form that was asked for.
    pub(crate) repairs: u32,
    /// How often in a row making the window shorter gained too little.
    pub(crate) poor_compactions: u32,
    /// Whether it was said that the window fills, since it was last made shorter.
    pub(crate) is_window_warned: bool,
    /// Whether the budget pays for no call after the one under way.
    pub(crate) is_wrapping_up: bool,
    /// What the model left open, though it was asked to finish it.
    pub(crate) unfinished: Option<String>,
    /// The answer as a value, where it has the form that was asked for.
    pub(crate) structured: Option<Arc<Value>>,
}

/// What model calls cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Bill {
    /// There was none.
    #[default]
    Empty,
    /// All that were made.
    Known(MicroUsd),
    /// One of them has no known price.
    Unknown,
}

impl Bill {
    /// Adds one call.
    pub(crate) fn add(&mut self, cost: Option<MicroUsd>) {
        let sum = match *self {
            Self::Empty => Some(MicroUsd::default()),
            Self::Known(sum) => Some(sum),
            Self::Unknown => None,
        };
        let total = sum.zip(cost).and_then(|(sum, cost)| sum.checked_add(cost));
        *self = total.map_or(Self::Unknown, Self::Known);
    }

    /// What came to it since it was `before`, where it is known.
    pub(crate) fn since(self, before: Self) -> Option<MicroUsd> {
        match (before, self) {
            (_, Self::Empty) => Some(MicroUsd::default()),
            (Self::Empty, Self::Known(sum)) => Some(sum),
            (Self::Known(before), Self::Known(sum)) => Some(MicroUsd(sum.0.saturating_sub(before.0))),
            (Self::Unknown, _) | (_, Self::Unknown) => None,
        }
    }

    /// The sum, where it is known.
    pub(crate) fn total(self) -> Option<MicroUsd> {
        match self {
            Self::Known(sum) => Some(sum),
            Self::Empty | Self::Unknown => None,
        }
    }
}

/// What the runs of one agent hand on to each other. The ids and the meter move along with the run that uses them.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) conversation: Conversation,
    pub(crate) call_ids: CallIds,
    pub(crate) meter: PromptMeter,
}

impl From<Conversation> for Shared {
    fn from(conversation: Conversation) -> Self {
        let call_ids = CallIds::from(conversation.history());
        Self { call_ids, conversation, meter: PromptMeter::default() }
    }
}

impl From<History> for Shared {
    fn from(history: History) -> Self {
        Conversation::from(history).into()
    }
}

/// A turn that is under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenTurn {
    /// Its index in the run.
    pub(crate) index: u32,
    /// What the model is reminded of at the end of its request.
    pub(crate) reminder: Option<Arc<str>>,
    /// The model call, while it is under way.
    pub(crate) model_call: Option<OpenModelCall>,
    /// The answer, once it is there.
    pub(crate) answer: Option<Arc<AgentMessage>>,
    /// The tool calls of the answer, in order.
    pub(crate) calls: Vec<OpenCall>,
    /// The approval requests that wait for an answer.
    pub(crate) questions: Vec<ApprovalId>,
    /// The results that have gone into the conversation.
    pub(crate) results: Vec<Arc<AgentMessage>>,
    /// Tokens of this turn, failed attempts included.
    pub(crate) usage: Usage,
    /// Money for the model calls so far.
    pub(crate) bill: Bill,
}

/// A model call that is under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenModelCall {
    /// When it began.
    pub(crate) started_ms: u64,
    /// When the first piece arrived.
    pub(crate) first_token_ms: Option<u64>,
    /// The answer so far.
    pub(crate) draft: Draft,
    /// The ids that its tool calls were given.
    pub(crate) call_ids: Vec<ToolCallId>,
    /// The answer as it was announced, once it was.
    pub(crate) announced: Option<Arc<AgentMessage>>,
}

/// A tool call on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    /// The call.
    pub(crate) call: ToolCall,
    /// How far it is.
    pub(crate) stage: CallStage,
    /// The question that was answered with yes, if one was asked.
    pub(crate) approved: Option<Arc<ApprovalRequest>>,
    /// What hooks tell the model with the result.
    pub(crate) context: Vec<String>,
    /// What the gate found out about it, as long as this process lives.
    #[serde(skip)]
    pub(crate) facts: CallFacts,
}

impl From<ToolCall> for OpenCall {
    fn from(call: ToolCall) -> Self {
        Self {
            call,
            stage: CallStage::Waiting,
            approved: None,
            context: Vec::new(),
            facts: CallFacts::default(),
        }
    }
}

/// How far a tool call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum CallStage {
    /// Not begun.
    Waiting,
    /// Running since this time of the measuring clock.
    Running {
        /// In milliseconds.
        since_ms: u64,
    },
    /// Answered, by a run or by a refusal.
    Answered {
        /// The answer.
        result: Arc<ToolResult>,
        /// Whether it is an error.
        is_error: bool,
    },
}

impl RunState {
    /// The state of a run that goes on from `conversation`.
    pub(crate) fn new(conversation: Conversation, started_ms: u64) -> Self {
        Self { conversation, started_ms, ..Self::default() }
    }

    /// Adds a message to the conversation.
    pub(crate) fn push(&mut self, message: Arc<AgentMessage>) {
        self.produced.push(Arc::clone(&message));
        self.conversation.push(message);
    }

    /// Counts a call that is no part of a turn.
    pub(crate) fn count_beside(&mut self, usage: Usage, cost: Option<MicroUsd>) {
        if usage.total() > 0 {
            self.usage += usage;
            self.bill.add(cost);
            self.tokens_spent = self.tokens_spent.saturating_add(usage.total());
        }
    }

    /// The text of the last answer that was not cut off by an error.
    pub(crate) fn last_text(&self) -> String {
        let answers = self.produced.iter().rev().filter_map(|message| message.as_assistant());
        let mut texts = answers.filter(|answer| answer.stop_reason != StopReason::Error);
        texts.next().map_or_else(String::new, AssistantMessage::text)
    }
}

/// What causes the first turn of a run.
pub(crate) fn first_trigger(continuation: Option<&ContinuationKind>, prompted: TurnTrigger) -> TurnTrigger {
    match continuation {
        Some(ContinuationKind::Branch { .. }) => TurnTrigger::Branch,
        Some(ContinuationKind::Default | ContinuationKind::Rerun { .. }) => TurnTrigger::Continuation,
        None => prompted,
    }
}
