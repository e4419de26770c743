//! `Gate`: may this tool call run?

use std::sync::Arc;

use crate::answer::Answer;
use crate::call_facts::CallFacts;
use crate::content::ToolCall;
use crate::event::{ApprovalRequest, Danger, PermissionResponse, QueuedChange, Subject};
use crate::seam::tool::Tool;
use crate::tool::Effect;

/// What a gate is asked.
pub struct GateRequest<'a> {
    /// The call; its arguments fit the tool's schema.
    pub call: &'a ToolCall,
    /// The tool it names.
    pub tool: &'a dyn Tool,
    /// What the tool does to the world.
    pub effect: Effect,
}

/// What a gate answers: a verdict, and what it found out on the way there.
#[derive(Debug, Clone, PartialEq)]
pub struct GateDecision {
    /// What becomes of the call.
    pub verdict: Verdict,
    /// For the tool, should the call run.
    pub facts: CallFacts,
}

/// A verdict alone.
impl From<Verdict> for GateDecision {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, facts: CallFacts::default() }
    }
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The call may run.
    Allow,
    /// The call may not run; the model is told why.
    Deny {
        /// Why.
        reason: String,
    },
    /// Somebody has to decide.
    Ask {
        /// Exactly what would happen.
        subject: Subject,
        /// Why it is asked.
        reason: String,
        /// How much harm it could do.
        danger: Danger,
        /// The rule that "always" would save.
        suggested_rule: Option<String>,
        /// What makes it a question.
        by: ApprovalReason,
    },
    /// The change waits in the plan; the model is told so.
    Queue {
        /// The change.
        change: QueuedChange,
    },
}

/// What makes a call a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalReason {
    /// Nothing says that it may run. A hook may say so.
    Default,
    /// Something says that it is to be asked, whatever a hook says.
    Rule,
}

/// Decides which tool calls may run.
pub trait Gate: Send + Sync {
    /// Decides about one call. Asked again where a hook or the user changes its arguments.
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision>;

    /// Is told how a question it asked was answered, so that it need not ask again.
    fn resolved(&self, _request: &ApprovalRequest, _response: &PermissionResponse) {}
}

/// A closure is a gate.
impl<F> Gate for F
where
    F: for<'a> Fn(&GateRequest<'a>) -> Verdict + Send + Sync,
{
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        Answer::Now(self(&request).into())
    }
}

/// Every call may run.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Gate for AllowAll {
    fn check<'a>(&'a self, _request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        Answer::Now(Verdict::Allow.into())
    }
}

/// No call may run.
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

impl Gate for DenyAll {
    fn check<'a>(&'a self, _request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let reason = "no tool may run in this session".into();
        Answer::Now(Verdict::Deny { reason }.into())
    }
}

/// Tools that only look may run; for all others somebody is asked. What an agent does unless it is told otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskFirst;

impl Gate for AskFirst {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let verdict = match request.effect {
            Effect::Pure => Verdict::Allow,
            Effect::Idempotent | Effect::Unsafe => Verdict::Ask {
                subject: Subject::Arguments { arguments: Arc::clone(&request.call.arguments) },
                reason: "the tool changes something".into(),
                danger: Danger::Moderate,
                suggested_rule: None,
                by: ApprovalReason::Default,
            },
        };
        Answer::Now(verdict.into())
    }
}
