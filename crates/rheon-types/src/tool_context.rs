//! What a running tool is given: what it knows of its call, and how it reports.

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
use crate::id::{RunId, SessionId, ToolCallId, ToolName};
use crate::tool::ToolResult;
use crate::usage::Usage;

/// What a call has to itself; given back when it is dropped, on whatever path that happens.
#[derive(Default)]
#[must_use = "what is held is given back when this is dropped"]
pub struct Hold(Option<Box<dyn Send + Sync>>);

impl Hold {
    /// Holds `guard` until it is dropped.
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hold").field(&self.0.is_some()).finish()
    }
}

/// A fact about the session that a tool brings about; each becomes an event.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolNews {
    /// The task list is another one now.
    Tasks(Vec<TaskItem>),
    /// The permission mode is another one now.
    Mode(PermissionMode),
    /// A change that waited in the plan was approved or dropped.
    PlanResolved {
        /// The call that wanted it.
        call_id: ToolCallId,
        /// Which of both.
        decision: PermissionDecision,
    },
    /// A child of the tool began. Becomes `subagent.start`.
    ChildStarted {
        /// Its ids.
        child: Arc<ChildRef>,
        /// What it is to do, in short.
        task: String,
    },
    /// A child of the tool ended. Becomes `subagent.end`.
    ChildEnded {
        /// Its ids.
        child: Arc<ChildRef>,
        /// What came of it, in short.
        summary: String,
        /// What it used.
        usage: Usage,
        /// Whether it failed.
        is_error: bool,
    },
}

/// Where a running tool reports to.
pub trait ToolReporter: Send + Sync {
    /// A partial result, replacing the one before.
    fn update(&self, partial: ToolResult);
    /// A line of status for the user.
    fn progress(&self, text: &str);
    /// A fact about the session.
    fn news(&self, _news: ToolNews) {}
    /// Asks the user; nothing if nobody is there to answer.
    fn ask<'a>(&'a self, _subject: Subject, _reason: String) -> Answer<'a, Option<PermissionResponse>> {
        Answer::Now(None)
    }
    /// Shows an event of a child of the tool to whoever observes the parent. It bears the child's own ids, and is not part of the
    /// parent's log.
    fn child_event(&self, _event: &Event) {}
    /// A child of the tool runs: from now on the user reaches it through `inbox`, until its end is news.
    fn reach_child(&self, _child: &ChildRef, _inbox: ChildInbox) {}
    /// Asks the user on behalf of a child of the tool; nothing if nobody is there to answer.
    fn ask_for_child<'a>(&'a self, _approval: ChildApproval) -> Answer<'a, Option<PermissionResponse>> {
        Answer::Now(None)
    }
}

/// What a tool knows of the call it serves.
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
    /// What the gate found out about the call; nothing where none was asked.
    pub facts: CallFacts,
    reporter: Option<Arc<dyn ToolReporter>>,
}

impl ToolContext {
    /// A context whose reports go to `reporter`, or nowhere.
    pub fn new(
        call: (ToolCallId, ToolName),
        run: (SessionId, RunId),
        cancel: CancellationToken,
        reporter: Option<Arc<dyn ToolReporter>>,
    ) -> Self {
        let ((call_id, tool_name), (session_id, run_id)) = (call, run);
        Self { call_id, tool_name, session_id, run_id, cancel, facts: CallFacts::default(), reporter }
    }

    /// The same with what the gate found out about the call.
    pub fn with_facts(mut self, facts: CallFacts) -> Self {
        self.facts = facts;
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

    /// Tells of something the tool brought about.
    pub fn news(&self, news: ToolNews) {
        if let Some(reporter) = &self.reporter {
            reporter.news(news);
        }
    }

    /// Asks the user, and waits; nothing if nobody is there to answer.
    pub async fn ask(&self, subject: Subject, reason: impl Into<String>) -> Option<PermissionResponse> {
        self.reporter.as_ref()?.ask(subject, reason.into()).get().await
    }

    /// Shows an event of a child to whoever observes the parent.
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

    /// Asks the user on behalf of a child, and waits; nothing if nobody is there to answer.
    pub async fn ask_for_child(&self, approval: ChildApproval) -> Option<PermissionResponse> {
        self.reporter.as_ref()?.ask_for_child(approval).get().await
    }

    /// Shows a line of status.
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
