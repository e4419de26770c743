//! Events: what happened in a session, in order. All other views are derived from them.

mod approval;
mod fact;
mod group;
mod json;
mod order;
mod part;
mod settings;
mod unknown;

use serde::{Deserialize, Serialize};

pub use approval::{
    ApprovalOffer, ApprovalRequest, Choice, Danger, PermissionDecision, PermissionResponse, Responder, Scope,
    Selection, Subject, UserQuestion,
};
pub use fact::{
    Notice, NoticeLevel, NoticeTopic, RuleAction, RuleList, RulesChange, SessionNetwork, SessionSandbox,
    ToolSetVersion, ToolSourceVersion,
};
pub use group::{
    ApprovalEvent, BudgetEvent, ChildEvent, ContextEvent, MessageEvent, ModelEvent, PlanEvent, RunEvent,
    SessionEvent, ToolEvent, TurnEvent,
};
pub use order::{OrderChecker, OrderViolation};
pub use part::{
    BudgetAmount, ChildRef, CompactionTrigger, Ledger, Meter, PermissionMode, QueuedChange, TaskItem,
    TaskStatus,
};
pub use settings::{RunSettings, RunWindow};
pub use unknown::UnknownEvent;

use crate::id::{RunId, SessionId};
use crate::time::Timestamp;

/// One entry of a session's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Event {
    /// Numbers the durable events of a session from 1, without gaps. A live event carries the number of the durable
    /// event before it.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// The session.
    pub session_id: SessionId,
    /// The run; `None` for session facts outside a run.
    #[doc(alias = "loop_id")]
    #[serde(default, alias = "loop_id", skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// What happened.
    pub kind: AgentEvent,
}

impl Event {
    /// Whether it belongs to the run `run_id`.
    pub fn belongs_to(&self, run_id: &RunId) -> bool {
        self.run_id.as_ref() == Some(run_id)
    }
}

/// An event, by group. JSON: one object tagged by `type` with the dotted name. The order of events is drawn in the
/// architecture document and enforced by [`OrderChecker`].
///
/// A view matches the groups it shows and ignores the rest, so that a new event affects only the views that show it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[non_exhaustive]
pub enum AgentEvent {
    /// A run as a whole.
    Run(RunEvent),
    /// A turn.
    Turn(TurnEvent),
    /// A model call.
    Model(ModelEvent),
    /// A message of the conversation.
    Message(MessageEvent),
    /// A tool call.
    Tool(ToolEvent),
    /// An approval.
    Approval(ApprovalEvent),
    /// The plan and the task list.
    Plan(PlanEvent),
    /// Runs that this run started.
    Child(ChildEvent),
    /// What the model sees.
    Context(ContextEvent),
    /// The budget.
    Budget(BudgetEvent),
    /// The session.
    Session(SessionEvent),
    /// An event added by a newer version, preserved unchanged.
    Unknown(UnknownEvent),
}

impl AgentEvent {
    /// Whether the event is stored. Live events are only displayed; a later durable event carries their content.
    pub fn is_durable(&self) -> bool {
        !matches!(
            self,
            Self::Message(
                MessageEvent::TextDelta { .. }
                    | MessageEvent::ThinkingDelta { .. }
                    | MessageEvent::ToolCallDelta { .. }
            ) | Self::Tool(ToolEvent::Update { .. } | ToolEvent::Progress { .. })
                | Self::Child(ChildEvent::Missed { .. })
                | Self::Session(SessionEvent::ClientCall { .. } | SessionEvent::ClientCallWithdrawn { .. })
        )
    }

    /// The dotted name, as in the JSON `type`.
    pub fn name(&self) -> &str {
        match self {
            Self::Run(event) => event.name(),
            Self::Turn(event) => event.name(),
            Self::Model(event) => event.name(),
            Self::Message(event) => event.name(),
            Self::Tool(event) => event.name(),
            Self::Approval(event) => event.name(),
            Self::Plan(event) => event.name(),
            Self::Child(event) => event.name(),
            Self::Context(event) => event.name(),
            Self::Budget(event) => event.name(),
            Self::Session(event) => event.name(),
            Self::Unknown(event) => event.name(),
        }
    }
}

macro_rules! into_event {
    ($($group:ident $event:ident),*) => {
        $(impl From<$event> for AgentEvent {
            fn from(event: $event) -> Self {
                Self::$group(event)
            }
        })*
    };
}

into_event!(
    Run RunEvent, Turn TurnEvent, Model ModelEvent, Message MessageEvent, Tool ToolEvent,
    Approval ApprovalEvent, Plan PlanEvent, Child ChildEvent, Context ContextEvent,
    Budget BudgetEvent, Session SessionEvent
);

#[cfg(test)]
mod order_tests;
