//! `Hook`: code that is asked or told at fixed points of a run.

use crate::answer::Answer;
use crate::content::ToolCall;
use crate::history::History;
use crate::outcome::AgentOutput;
use crate::tool::ToolResult;
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

/// Code that is asked or told at fixed points of a run, in the order drawn in the architecture document. Hooks are asked in the
/// order of their registration; the first veto counts and later hooks are not asked.
pub trait Hook: Send + Sync {
    /// The name under which it is reported.
    fn name(&self) -> &str {
        "hook"
    }

    /// Before `agent.start`. A veto ends the run before it begins: `agent.end` is its only event.
    fn before_loop<'a>(&'a self, _history: &'a History, _loop_index: usize) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// After `agent.end`.
    fn after_loop<'a>(&'a self, _output: &'a AgentOutput) -> Answer<'a, ()> {
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

    /// Before `tool.start`. A veto skips the call; the model is told.
    fn before_tool<'a>(&'a self, _call: &'a ToolCall) -> Answer<'a, Flow> {
        Answer::Now(Flow::Continue)
    }

    /// After `tool.end`.
    fn after_tool<'a>(
        &'a self,
        _call: &'a ToolCall,
        _result: &'a ToolResult,
        _is_error: bool,
    ) -> Answer<'a, ()> {
        Answer::Now(())
    }

    /// Before `tool.update`. A veto suppresses the event; the tool goes on and its result stands.
    fn before_tool_update(&self, _call: &ToolCall, _text: &str) -> Flow {
        Flow::Continue
    }

    /// After `tool.update`, unless it was suppressed.
    fn after_tool_update(&self, _call: &ToolCall, _text: &str) {}

    /// When a run fails; not when code inside it panics, which may be a hook's own.
    fn on_error(&self, _message: &str) {}
}
