//! `RunState`: the mutable state of a run, as plain data.

use std::sync::Arc;

use rheon_types::event::{ApprovalRequest, BudgetAmount};
use rheon_types::{
    AgentMessage, ApprovalId, AssistantMessage, CallFacts, CallGrant, CallOrder, ContinuationKind, Draft,
    History, MicroUsd, StopReason, ToolCall, ToolCallId, ToolResult, TurnTrigger, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call_ids::CallIds;
use crate::conversation::Conversation;
use crate::meter::PromptMeter;

/// The mutable state of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunState {
    /// The conversation, this run's messages included.
    pub(crate) conversation: Conversation,
    /// Prompts that no turn has used yet.
    pub(crate) prompts: Vec<Arc<AgentMessage>>,
    /// The messages of this run.
    pub(crate) produced: Vec<Arc<AgentMessage>>,
    /// The number of turns started.
    pub(crate) turns: u32,
    /// Tokens of all turns.
    pub(crate) usage: Usage,
    /// Money for all turns.
    pub(crate) bill: Bill,
    /// When the run started, by the monotonic clock.
    pub(crate) started_ms: u64,
    /// The tool call ids in use.
    pub(crate) call_ids: CallIds,
    /// Tokens that count against the limit, as reported or estimated.
    pub(crate) tokens_spent: u64,
    pub(crate) stops: StopState,
    /// Whether the conversation ends with a message the model has to answer.
    pub(crate) expects_answer: bool,
    /// The current turn.
    pub(crate) turn: Option<OpenTurn>,
}

/// How the model stopped, and the checks of its answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StopState {
    /// Why the model ended its last message.
    pub(crate) last: Option<StopReason>,
    /// The number of consecutive stop vetoes by hooks.
    pub(crate) vetoes: u32,
    /// A note for the model before it may stop.
    pub(crate) note: Option<String>,
    /// How often in a row the model was asked to finish incomplete work.
    pub(crate) nudges: u32,
    /// How often the model was asked to correct its answer to match the output schema.
    pub(crate) repairs: u32,
    /// The number of consecutive compactions that gained too little.
    pub(crate) poor_compactions: u32,
    /// Whether the run warned about the window since the last compaction.
    pub(crate) is_window_warned: bool,
    /// Whether the current call is the last one the budget can pay for.
    pub(crate) is_wrapping_up: bool,
    /// What the model left unfinished even though it was asked to complete it.
    pub(crate) unfinished: Option<String>,
    /// The answer as a JSON value, if it matches the output schema.
    pub(crate) structured: Option<Arc<Value>>,
}

/// The total cost of model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Bill {
    /// No calls.
    #[default]
    Empty,
    /// The total of all calls.
    Known(MicroUsd),
    /// The price of a call is unknown.
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

    /// The total, if known.
    pub(crate) fn total(self) -> Option<MicroUsd> {
        match self {
            Self::Known(sum) => Some(sum),
            Self::Empty | Self::Unknown => None,
        }
    }
}

/// State that the runs of one agent pass on to each other. The ids and the meter move into the current run.
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

/// A turn in progress.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenTurn {
    /// Its index in the run.
    pub(crate) index: u32,
    /// The reminder at the end of the request.
    pub(crate) reminder: Option<Arc<str>>,
    /// The model call in progress.
    pub(crate) model_call: Option<OpenModelCall>,
    /// The finished answer.
    pub(crate) answer: Option<Arc<AgentMessage>>,
    /// The tool calls of the answer, in order.
    pub(crate) calls: Vec<OpenCall>,
    /// The approval requests that wait for an answer.
    pub(crate) questions: Vec<ApprovalId>,
    /// The results added to the conversation.
    pub(crate) results: Vec<Arc<AgentMessage>>,
    /// Tokens of this turn, failed attempts included.
    pub(crate) usage: Usage,
    /// Money for the model calls so far.
    pub(crate) bill: Bill,
}

/// A model call in progress.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenModelCall {
    /// When it began.
    pub(crate) started_ms: u64,
    /// When the first chunk arrived.
    pub(crate) first_token_ms: Option<u64>,
    /// The answer so far.
    pub(crate) draft: Draft,
    /// The ids of its tool calls.
    pub(crate) call_ids: Vec<ToolCallId>,
    /// The empty answer emitted as `message.start`.
    pub(crate) announced: Option<Arc<AgentMessage>>,
    /// What attempts without a usage report took.
    pub(crate) estimated: Option<BudgetAmount>,
}

/// A tool call and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    /// The call.
    pub(crate) call: ToolCall,
    pub(crate) stage: CallStage,
    /// The approved request, if approval was needed.
    pub(crate) approved: Option<Arc<ApprovalRequest>>,
    /// Text that hooks add to the result.
    pub(crate) context: Vec<String>,
    /// What the gate learned about it, within this process.
    #[serde(skip)]
    pub(crate) facts: CallFacts,
    /// Whether it runs together with others, as the gate says.
    #[serde(skip)]
    pub(crate) order: CallOrder,
    /// What it may reach beyond the sandbox's defaults.
    #[serde(default)]
    pub(crate) grant: CallGrant,
}

impl From<ToolCall> for OpenCall {
    fn from(call: ToolCall) -> Self {
        Self {
            call,
            stage: CallStage::Waiting,
            approved: None,
            context: Vec::new(),
            facts: CallFacts::default(),
            order: CallOrder::default(),
            grant: CallGrant::default(),
        }
    }
}

/// The state of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum CallStage {
    /// Not started.
    Waiting,
    /// Running since this time of the monotonic clock.
    Running {
        /// In milliseconds.
        since_ms: u64,
    },
    /// Finished or rejected.
    Answered {
        /// The answer.
        result: Arc<ToolResult>,
        /// Whether it is an error.
        is_error: bool,
    },
}

impl RunState {
    /// The state of a run that continues `conversation`.
    pub(crate) fn new(conversation: Conversation, started_ms: u64) -> Self {
        Self { conversation, started_ms, ..Self::default() }
    }

    /// Adds a message to the conversation.
    pub(crate) fn push(&mut self, message: Arc<AgentMessage>) {
        self.produced.push(Arc::clone(&message));
        self.conversation.push(message);
    }

    /// Adds the usage of a call outside a turn, whose tokens count this much against the limit.
    pub(crate) fn count_beside(&mut self, usage: Usage, cost: Option<MicroUsd>, tokens: u64) {
        if usage.total() > 0 {
            self.usage += usage;
            self.bill.add(cost);
            self.tokens_spent = self.tokens_spent.saturating_add(tokens);
        }
    }

    /// The text of the last answer that did not end in an error.
    pub(crate) fn last_text(&self) -> String {
        let answers = self.produced.iter().rev().filter_map(|message| message.as_assistant());
        let mut texts = answers.filter(|answer| answer.stop_reason != StopReason::Error);
        texts.next().map_or_else(String::new, AssistantMessage::text)
    }
}

/// The trigger of the first turn of a run.
pub(crate) fn first_trigger(continuation: Option<&ContinuationKind>, prompted: TurnTrigger) -> TurnTrigger {
    match continuation {
        Some(ContinuationKind::Branch { .. }) => TurnTrigger::Branch,
        Some(ContinuationKind::Default | ContinuationKind::Rerun { .. }) => TurnTrigger::Continuation,
        None => prompted,
    }
}
