//! `Hook`: code that runs at fixed points of a run.

use std::sync::Arc;

use serde_json::Value;

use crate::answer::Answer;
use crate::content::{Content, ToolCall};
use crate::event::{
    AgentEvent, ApprovalRequest, CompactionTrigger, PermissionResponse, RunEvent, SessionEvent,
};
use crate::history::History;
use crate::outcome::AgentOutput;
use crate::tool::{ToolError, ToolResult};
use crate::usage::Usage;

/// Whether to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// Continue.
    Continue,
    /// Stop, for this reason.
    Veto(String),
    /// Stop: the model repeats itself, as this message says. Before a turn it ends the run as [`crate::RunEnd::Stuck`];
    /// elsewhere it is a veto.
    Stuck(String),
}

impl From<bool> for Flow {
    /// `true` continues; `false` is a veto with a generic reason.
    fn from(should_continue: bool) -> Self {
        if should_continue { Self::Continue } else { Self::Veto("vetoed by a hook".into()) }
    }
}

impl From<()> for Flow {
    /// Goes on.
    fn from((): ()) -> Self {
        Self::Continue
    }
}

/// What a hook says of a call that the gate does not refuse.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookPermission {
    /// Whether the call may run. `None` leaves the decision to the gate.
    pub verdict: Option<HookVerdict>,
    /// Replacement arguments. They are validated like the model's own, also by the gate.
    pub arguments: Option<Arc<Value>>,
    /// Extra text the model receives with the result.
    pub context: Vec<String>,
}

/// Whether a call may run, ordered from most permissive to strictest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookVerdict {
    /// Allow it without approval, unless a rule requires approval.
    Allow,
    /// Ask the user, for this reason.
    Ask(String),
    /// Deny it, for this reason.
    Deny(String),
}

/// Changes a hook makes to a result before the model reads it. The log keeps the original result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Amendment {
    /// Replacement content.
    pub content: Option<Vec<Content>>,
    /// Additional text.
    pub context: Vec<String>,
}

impl From<()> for Amendment {
    /// Nothing is changed.
    fn from((): ()) -> Self {
        Self::default()
    }
}

/// What a hook has to say in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookReport {
    /// A checkpoint of the workspace was saved. Becomes `checkpoint`.
    Checkpoint {
        /// The id to restore it with.
        id: String,
        /// A label for people.
        label: String,
    },
    /// Something went wrong. Becomes `error`.
    Warning {
        /// What happened, to what, and what to do next.
        message: String,
    },
}

impl From<HookReport> for AgentEvent {
    fn from(report: HookReport) -> Self {
        match report {
            HookReport::Checkpoint { id, label } => SessionEvent::Checkpoint { id, label }.into(),
            HookReport::Warning { message } => RunEvent::Error { message }.into(),
        }
    }
}

/// Code that runs at fixed points of a run, in the order drawn in the architecture document. Hooks run in the order of
/// their registration; after a veto, later hooks are skipped.
pub trait Hook: Send + Sync {
    /// The name used in reports.
    fn name(&self) -> &str {
        "hook"
    }

    /// Called before `agent.start`. A veto ends the run before it starts: `agent.end` is its only event.
    #[doc(alias = "before_loop")]
    fn before_run<'a>(&'a self, _history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// After `agent.end`.
    #[doc(alias = "after_loop")]
    fn after_run<'a>(&'a self, _output: &'a AgentOutput) -> Answer<'a, ()> {
        Answer::Now(())
    }

    /// Before `turn.start`. A veto ends the run without the turn.
    fn before_turn<'a>(&'a self, _history: &'a History, _turn_index: u32) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// After `turn.end`.
    fn after_turn<'a>(&'a self, _history: &'a History, _usage: &'a Usage) -> Answer<'a, ()> {
        Answer::Now(())
    }

    /// Called before the user is asked about a call that the gate does not deny. All hooks run; the strictest verdict
    /// and the last arguments count.
    fn permit_tool<'a>(&'a self, _call: &'a ToolCall) -> Answer<'a, HookPermission> {
        Answer::Now(HookPermission::default())
    }

    /// Called when a call needs approval, before the user is asked. The first answer counts.
    fn answer_approval<'a>(
        &'a self,
        _call: &'a ToolCall,
        _request: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        Answer::Now(None)
    }

    /// Called before `tool.start`, after all approvals. A veto skips the call and the model sees why.
    fn before_tool<'a>(&'a self, _call: &'a ToolCall) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// Called after `tool.end`, before the model reads the result. The amendments of all hooks are combined.
    fn after_tool<'a>(
        &'a self,
        _call: &'a ToolCall,
        _result: &'a ToolResult,
        _is_error: bool,
    ) -> Answer<'a, Amendment> {
        Answer::Now(Amendment::default())
    }

    /// Takes the reports that the hook has for the log. Called right after `permit_tool`, `before_tool` and
    /// `after_tool`; each report is returned once. Reports from `before_tool` precede `tool.start` in the log.
    fn take_reports(&self) -> Vec<HookReport> {
        Vec::new()
    }

    /// Called when the model is done. A veto continues the run with the reason as a message to the model. `vetoes`
    /// counts the vetoes since the user's last message; after 8, hooks are no longer called.
    fn before_stop<'a>(&'a self, _history: &'a History, _vetoes: u32) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// Called before a compaction, with the user's instructions for the summary, if any. A veto leaves the conversation as it
    /// is: an automatic compaction is skipped and tried again in the next turn; one that the user asked for, or without
    /// which the service rejects the prompt, ends the run.
    fn before_compaction<'a>(
        &'a self,
        _trigger: CompactionTrigger,
        _instructions: Option<&'a str>,
    ) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// Called after a compaction, with the summary, if it has one.
    fn after_compaction<'a>(
        &'a self,
        _trigger: CompactionTrigger,
        _summary: Option<&'a str>,
    ) -> Answer<'a, ()> {
        Answer::Now(())
    }

    /// Called after `tool.blocked`: a call will not run.
    fn tool_blocked(&self, _call: &ToolCall, _error: &ToolError) {}

    /// Called before `tool.update`. A veto suppresses the event; the tool keeps running and its result is unaffected.
    fn before_tool_update(&self, _call: &ToolCall, _text: &str) -> Flow {
        Flow::Continue
    }

    /// After `tool.update`, unless it was suppressed.
    fn after_tool_update(&self, _call: &ToolCall, _text: &str) {}

    /// Called when a run fails, but not after a panic, which may come from a hook itself.
    fn on_error(&self, _message: &str) {}
}
