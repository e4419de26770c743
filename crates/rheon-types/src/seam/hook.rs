//! `Hook`: code that is asked or told at fixed points of a run.

use std::sync::Arc;

use serde_json::Value;

use crate::answer::Answer;
use crate::content::{Content, ToolCall};
use crate::event::{AgentEvent, ApprovalRequest, PermissionResponse, RunEvent, SessionEvent};
use crate::history::History;
use crate::outcome::AgentOutput;
use crate::tool::{ToolError, ToolResult};
use crate::usage::Usage;

/// Whether to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Do not; the text says why.
    Veto(String),
}

impl From<bool> for Flow {
    /// `true` goes on; `false` is a veto without a reason.
    fn from(go_on: bool) -> Self {
        if go_on { Self::Continue } else { Self::Veto("a hook said no".into()) }
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
pub struct Permit {
    /// Whether it may run; without one the gate's word stands.
    pub opinion: Option<Opinion>,
    /// The arguments it is to run with instead. They are checked like those of the model, by the gate too.
    pub arguments: Option<Arc<Value>>,
    /// What the model is told with the result.
    pub context: Vec<String>,
}

/// Whether a call may run; the later ones are stricter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opinion {
    /// It need not be asked, unless a rule says that it is to be.
    Allow,
    /// Somebody has to decide; the text says why.
    Ask(String),
    /// It may not run; the text says why.
    Deny(String),
}

/// What a hook changes of a result before the model reads it. The log keeps the result as it was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Amendment {
    /// What the model reads instead.
    pub content: Option<Vec<Content>>,
    /// What it reads besides.
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
pub enum HookNews {
    /// The state of the workspace was kept. Becomes `checkpoint`.
    Checkpoint {
        /// Under which it can be restored.
        id: String,
        /// What people read.
        label: String,
    },
    /// Something went wrong that is worth telling. Becomes `error`.
    Warning {
        /// What happened, to what, and what to do next.
        message: String,
    },
}

impl From<HookNews> for AgentEvent {
    fn from(news: HookNews) -> Self {
        match news {
            HookNews::Checkpoint { id, label } => SessionEvent::Checkpoint { id, label }.into(),
            HookNews::Warning { message } => RunEvent::Error { message }.into(),
        }
    }
}

/// Code that is asked or told at fixed points of a run, in the order drawn in the architecture document. Hooks are asked in the
/// order of their registration; the first veto counts and later hooks are not asked.
pub trait Hook: Send + Sync {
    /// The name under which it is reported.
    fn name(&self) -> &str {
        "hook"
    }

    /// Before `agent.start`. A veto ends the run before it begins: `agent.end` is its only event.
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

    /// Before anybody is asked about a call that the gate does not refuse. All hooks are asked; the strictest opinion and
    /// the last arguments count.
    fn permit_tool<'a>(&'a self, _call: &'a ToolCall) -> Answer<'a, Permit> {
        Answer::Now(Permit::default())
    }

    /// When somebody has to decide about a call, before they are asked. The first answer counts.
    fn answer_approval<'a>(
        &'a self,
        _call: &'a ToolCall,
        _request: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        Answer::Now(None)
    }

    /// Before `tool.start`, after all questions. A veto skips the call; the model is told.
    fn before_tool<'a>(&'a self, _call: &'a ToolCall) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// After `tool.end`, before the model reads the result. The amendments of all hooks are joined.
    fn after_tool<'a>(
        &'a self,
        _call: &'a ToolCall,
        _result: &'a ToolResult,
        _is_error: bool,
    ) -> Answer<'a, Amendment> {
        Answer::Now(Amendment::default())
    }

    /// What the hook has to say in the log, asked for right after its `permit_tool`, `before_tool` and `after_tool`. What it
    /// gives is given once. News of `before_tool` stands in the log before `tool.start`.
    fn news(&self) -> Vec<HookNews> {
        Vec::new()
    }

    /// When the model has nothing more to do. A veto goes on: the text is said to the model. `vetoes` counts those that
    /// the run has seen without a word from the user; after 8 nobody is asked any more.
    fn before_stop<'a>(&'a self, _history: &'a History, _vetoes: u32) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// After `tool.blocked`: a call will not run.
    fn tool_blocked(&self, _call: &ToolCall, _error: &ToolError) {}

    /// Before `tool.update`. A veto suppresses the event; the tool goes on and its result stands.
    fn before_tool_update(&self, _call: &ToolCall, _text: &str) -> Flow {
        Flow::Continue
    }

    /// After `tool.update`, unless it was suppressed.
    fn after_tool_update(&self, _call: &ToolCall, _text: &str) {}

    /// When a run fails; not when code inside it panics, which may be a hook's own.
    fn on_error(&self, _message: &str) {}
}
