//! `Gate`: decides whether a tool call may run.

use std::sync::Arc;

use crate::answer::Answer;
use crate::call_facts::CallFacts;
use crate::content::ToolCall;
use crate::event::{ApprovalOffer, ApprovalRequest, Danger, PermissionResponse, QueuedChange, Subject};
use crate::grant::CallGrant;
use crate::seam::tool::Tool;
use crate::tool::Effect;

/// A tool call to decide about.
pub struct GateRequest<'a> {
    /// The call. Its arguments match the tool's schema.
    pub call: &'a ToolCall,
    /// The tool being called.
    pub tool: &'a dyn Tool,
    /// The tool's side effects.
    pub effect: Effect,
}

/// A gate's verdict, with what it learned about the call.
#[derive(Debug, Clone, PartialEq)]
pub struct GateDecision {
    /// Whether the call may run.
    pub verdict: Verdict,
    /// Facts for the tool, used if the call runs.
    pub facts: CallFacts,
    /// Whether it runs together with other calls of its turn.
    pub order: CallOrder,
    /// What the call may reach beyond the sandbox's defaults, by rule or by mode. What the user's answer adds comes on top.
    pub grant: CallGrant,
}

/// How a call runs beside the other calls of its turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallOrder {
    /// Together with its neighbors that run together too, as the agent's settings say.
    #[default]
    Together,
    /// Alone: after all calls before it, and before all calls after it.
    Alone,
}

/// A decision without facts and grants.
impl From<Verdict> for GateDecision {
    fn from(verdict: Verdict) -> Self {
        let (facts, grant, order) = (CallFacts::default(), CallGrant::default(), CallOrder::default());
        Self { verdict, facts, grant, order }
    }
}

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The call may run.
    Allow,
    /// The call may not run. The model sees the reason.
    Deny {
        /// The reason, shown to the model.
        reason: String,
    },
    /// The user has to decide.
    Ask {
        /// Exactly what the call would do.
        subject: Subject,
        /// Why approval is needed.
        reason: String,
        /// The risk of the call.
        danger: Danger,
        /// The rule that "always allow" would save.
        suggested_rule: Option<String>,
        /// The ways to say yes, the plain one first; empty if there is only one.
        offers: Vec<ApprovalOffer>,
        /// Why the gate asks.
        by: ApprovalReason,
    },
    /// The change is queued in the plan. The model sees that it did not run.
    Queue {
        /// The queued change.
        change: QueuedChange,
    },
}

/// Why a call needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalReason {
    /// No rule allows it. A hook may allow it.
    Default,
    /// A rule requires approval. A hook cannot override it.
    Rule,
}

/// Decides which tool calls may run.
pub trait Gate: Send + Sync {
    /// Decides about one call. Called again if a hook or the user changes the arguments.
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision>;

    /// Called when one of its approval requests is answered, so that it need not ask again.
    fn resolved(&self, _request: &ApprovalRequest, _response: &PermissionResponse) {}
}

/// A closure can act as a gate.
impl<F> Gate for F
where
    F: for<'a> Fn(&GateRequest<'a>) -> Verdict + Send + Sync,
{
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        Answer::Now(self(&request).into())
    }
}

/// Allows every call.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Gate for AllowAll {
    fn check<'a>(&'a self, _request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        Answer::Now(Verdict::Allow.into())
    }
}

/// Denies every call.
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

impl Gate for DenyAll {
    fn check<'a>(&'a self, _request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let reason = "tool calls are disabled in this session".into();
        Answer::Now(Verdict::Deny { reason }.into())
    }
}

/// Allows read-only tools and asks for approval for all others. This is an agent's default.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskFirst;

impl Gate for AskFirst {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let verdict = match request.effect {
            Effect::Pure => Verdict::Allow,
            Effect::Idempotent | Effect::Unsafe => Verdict::Ask {
                subject: Subject::Arguments { arguments: Arc::clone(&request.call.arguments) },
                reason: "this tool may change something".into(),
                danger: Danger::Moderate,
                suggested_rule: None,
                offers: Vec::new(),
                by: ApprovalReason::Default,
            },
        };
        Answer::Now(verdict.into())
    }
}
