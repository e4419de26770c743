//! What a running tool knows about its call, and how it reports.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::call_facts::CallFacts;
use crate::child::ChildApproval;
use crate::child_inbox::ChildInbox;
use crate::event::{
    ChildRef, Event, PermissionDecision, PermissionMode, PermissionResponse, Subject, TaskItem,
};
use crate::grant::CallGrant;
use crate::id::{RunId, SessionId, ToolCallId, ToolName};
use crate::tool::ToolResult;
use crate::usage::Usage;

/// Something a call holds exclusively, released when this is dropped.
#[derive(Default)]
#[must_use = "the claim is released when this is dropped"]
pub struct Claim(Option<Box<dyn Send + Sync>>);

impl Claim {
    /// A claim that keeps `guard` alive.
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Claim").field(&self.0.is_some()).finish()
    }
}

/// A session fact reported by a tool. Each becomes an event.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolFact {
    /// The task list changed.
    Tasks(Vec<TaskItem>),
    /// The permission mode changed.
    Mode(PermissionMode),
    /// A queued change of the plan was approved or dropped.
    PlanResolved {
        /// The call that requested it.
        call_id: ToolCallId,
        /// Approved or dropped.
        decision: PermissionDecision,
    },
    /// A child of the tool started. Becomes `subagent.start`.
    ChildStarted {
        /// The child's ids.
        child: Arc<ChildRef>,
        /// A short description of the task.
        task: String,
    },
    /// A child of the tool ended. Becomes `subagent.end`.
    ChildEnded {
        /// The child's ids.
        child: Arc<ChildRef>,
        /// A short description of the result.
        summary: String,
        /// The tokens it used.
        usage: Usage,
        /// Whether it failed.
        is_error: bool,
    },
}

/// Receives the reports of a running tool.
pub trait ToolReporter: Send + Sync {
    /// Replaces the partial result.
    fn update(&self, partial: ToolResult);
    /// Shows a status line to the user.
    fn progress(&self, text: &str);
    /// Records a session fact.
    fn record(&self, _fact: ToolFact) {}
    /// Asks the user. `None` if no one can answer.
    fn ask<'a>(&'a self, _subject: Subject, _reason: String) -> Answer<'a, Option<PermissionResponse>> {
        Answer::Now(None)
    }
    /// Forwards an event of a child to the parent's observers. It carries the child's own ids and is not part of the
    /// parent's log.
    fn child_event(&self, _event: &Event) {}
    /// A child of the tool runs: from now on the user reaches it through `inbox`, until its end is news.
    fn reach_child(&self, _child: &ChildRef, _inbox: ChildInbox) {}
    /// Asks the user on behalf of a child of the tool; `None` if no client can answer.
    fn ask_for_child<'a>(&'a self, _approval: ChildApproval) -> Answer<'a, Option<PermissionResponse>> {
        Answer::Now(None)
    }
}

/// What a tool knows about its call.
#[derive(Clone)]
pub struct ToolContext {
    /// The call.
    pub call_id: ToolCallId,
    /// The name it was called by.
    pub tool_name: ToolName,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The run it belongs to; the parent of any run the tool starts.
    pub run_id: RunId,
    /// Fires when the call should stop.
    pub cancel: CancellationToken,
    /// What the gate learned about the call; empty if no gate was involved.
    pub facts: CallFacts,
    /// What the call may reach beyond the sandbox's defaults.
    pub grant: CallGrant,
    reporter: Option<Arc<dyn ToolReporter>>,
}

impl ToolContext {
    /// The context of a call outside any run. It reports to no one.
    pub fn new(call_id: impl Into<ToolCallId>, tool_name: impl Into<ToolName>) -> Self {
        Self {
            call_id: call_id.into(),
            tool_name: tool_name.into(),
            session_id: SessionId::from(""),
            run_id: RunId::from(""),
            cancel: CancellationToken::new(),
            facts: CallFacts::default(),
            grant: CallGrant::default(),
            reporter: None,
        }
    }

    /// Says which run the call belongs to.
    pub fn in_run(mut self, session_id: impl Into<SessionId>, run_id: impl Into<RunId>) -> Self {
        (self.session_id, self.run_id) = (session_id.into(), run_id.into());
        self
    }

    /// Stops the call with `cancel`.
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Reports to `reporter`.
    pub fn with_reporter(mut self, reporter: Arc<dyn ToolReporter>) -> Self {
        self.reporter = Some(reporter);
        self
    }

    /// Adds what the gate learned about the call.
    pub fn with_facts(mut self, facts: CallFacts) -> Self {
        self.facts = facts;
        self
    }

    /// Says what the call may reach beyond the sandbox's defaults.
    pub fn with_grant(mut self, grant: CallGrant) -> Self {
        self.grant = grant;
        self
    }

    /// Whether the call should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Shows a partial result.
    pub fn update(&self, partial: ToolResult) {
        if let Some(reporter) = &self.reporter {
            reporter.update(partial);
        }
    }

    /// Records a session fact.
    pub fn record(&self, fact: ToolFact) {
        if let Some(reporter) = &self.reporter {
            reporter.record(fact);
        }
    }

    /// Asks the user and waits for the answer. `None` if no one can answer.
    pub async fn ask(&self, subject: Subject, reason: impl Into<String>) -> Option<PermissionResponse> {
        self.reporter.as_ref()?.ask(subject, reason.into()).get().await
    }

    /// Forwards an event of a child to the parent's observers.
    pub fn child_event(&self, event: &Event) {
        if let Some(reporter) = &self.reporter {
            reporter.child_event(event);
        }
    }

    /// Lets the user reach a child that runs.
    pub fn reach_child(&self, child: &ChildRef, inbox: ChildInbox) {
        if let Some(reporter) = &self.reporter {
            reporter.reach_child(child, inbox);
        }
    }

    /// Asks the user on behalf of a child, and waits; `None` if no client can answer.
    pub async fn ask_for_child(&self, approval: ChildApproval) -> Option<PermissionResponse> {
        self.reporter.as_ref()?.ask_for_child(approval).get().await
    }

    /// Shows a status line.
    pub fn progress(&self, text: &str) {
        if let Some(reporter) = &self.reporter {
            reporter.progress(text);
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call_id", &self.call_id)
            .field("tool_name", &self.tool_name)
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}
