//! `RunState`: all that changes during a run, as plain data.

use std::collections::BTreeSet;
use std::sync::Arc;

use rheon_types::{
    AgentMessage, ApprovalId, AssistantMessage, ContinuationKind, Draft, History, MicroUsd, StopReason,
    ToolCall, ToolCallId, ToolResult, TurnTrigger, Usage,
};
use serde::{Deserialize, Serialize};

use crate::context::estimate_tokens;

/// All that changes during a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// The conversation, this run's messages included.
    pub conversation: Conversation,
    /// Prompts that no turn has taken in yet.
    pub prompts: Vec<Arc<AgentMessage>>,
    /// The messages of this run.
    pub produced: Vec<Arc<AgentMessage>>,
    /// How many turns were begun.
    pub turns: u32,
    /// Tokens of all turns.
    pub usage: Usage,
    /// Money for all turns, where prices are known.
    pub cost: Option<MicroUsd>,
    /// When the run began, by the measuring clock.
    pub started_ms: u64,
    /// Ids of tool calls this run has seen.
    pub call_ids: BTreeSet<ToolCallId>,
    /// Why the model ended its last message.
    pub last_stop: Option<StopReason>,
    /// Whether the conversation ends with something the model has to answer.
    pub expects_answer: bool,
    /// The turn that is under way.
    pub turn: Option<OpenTurn>,
}

/// A conversation and how long it is thought to be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// The messages.
    pub history: History,
    /// Their tokens, counted as they came.
    pub tokens_estimate: u64,
}

impl Conversation {
    fn push(&mut self, message: Arc<AgentMessage>) {
        self.tokens_estimate = self.tokens_estimate.saturating_add(estimate_tokens(&message));
        self.history.push(message);
    }
}

impl From<History> for Conversation {
    fn from(history: History) -> Self {
        let tokens_estimate = history.iter().map(|message| estimate_tokens(message)).sum();
        Self { history, tokens_estimate }
    }
}

/// A turn that is under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenTurn {
    /// Its index in the run.
    pub index: u32,
    /// The model call, while it is under way.
    pub model_call: Option<OpenModelCall>,
    /// The answer, once it is there.
    pub answer: Option<Arc<AgentMessage>>,
    /// The tool calls of the answer, in order.
    pub calls: Vec<OpenCall>,
    /// The approval requests that wait for an answer.
    pub questions: Vec<ApprovalId>,
    /// The results that have gone into the conversation.
    pub results: Vec<Arc<AgentMessage>>,
    /// Tokens of this turn, failed attempts included.
    pub usage: Usage,
}

/// A model call that is under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenModelCall {
    /// When it began.
    pub started_ms: u64,
    /// When the first piece arrived.
    pub first_token_ms: Option<u64>,
    /// The answer so far.
    pub draft: Draft,
    /// The answer as it was announced, once it was.
    pub announced: Option<Arc<AgentMessage>>,
}

/// A tool call on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenCall {
    /// The call.
    pub call: ToolCall,
    /// How far it is.
    pub stage: CallStage,
}

/// How far a tool call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CallStage {
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
