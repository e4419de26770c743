//! Hooks made of closures: `ClosureHook`, and `OnApproval`, which answers approval requests.

use std::future::Future;

use rheon_types::event::{ApprovalRequest, PermissionResponse};
use rheon_types::{AgentOutput, Amendment, Answer, Flow, History, Hook, ToolCall, ToolResult, Usage};
use serde_json::Value;

type BeforeRunFn = Box<dyn Fn(&History, usize) -> bool + Send + Sync>;
type AfterRunFn = Box<dyn Fn(&AgentOutput) + Send + Sync>;
type BeforeTurnFn = Box<dyn Fn(&History, u32) -> bool + Send + Sync>;
type AfterTurnFn = Box<dyn Fn(&History, &Usage) + Send + Sync>;
type BeforeToolFn = Box<dyn Fn(&str, &str, &Value) -> bool + Send + Sync>;
type AfterToolFn = Box<dyn Fn(&str, &str, bool) + Send + Sync>;
type BeforeToolUpdateFn = Box<dyn Fn(&str, &str, &str) -> bool + Send + Sync>;
type AfterToolUpdateFn = Box<dyn Fn(&str, &str, &str) + Send + Sync>;
type OnErrorFn = Box<dyn Fn(&str) + Send + Sync>;

/// A hook made of closures, one per hook point. Closures that return `bool` veto with `false`.
#[derive(Default)]
pub struct ClosureHook {
    before_run: Option<BeforeRunFn>,
    after_run: Option<AfterRunFn>,
    before_turn: Option<BeforeTurnFn>,
    after_turn: Option<AfterTurnFn>,
    before_tool: Option<BeforeToolFn>,
    after_tool: Option<AfterToolFn>,
    before_tool_update: Option<BeforeToolUpdateFn>,
    after_tool_update: Option<AfterToolUpdateFn>,
    on_error: Option<OnErrorFn>,
}

impl ClosureHook {
    /// A hook without closures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Before `agent.start`: the conversation so far, and how many runs the session had.
    pub fn before_run(mut self, hook: impl Fn(&History, usize) -> bool + Send + Sync + 'static) -> Self {
        self.before_run = Some(Box::new(hook));
        self
    }

    /// After `agent.end`.
    pub fn after_run(mut self, hook: impl Fn(&AgentOutput) + Send + Sync + 'static) -> Self {
        self.after_run = Some(Box::new(hook));
        self
    }

    /// Before `turn.start`: the conversation so far, and the turn's index.
    pub fn before_turn(mut self, hook: impl Fn(&History, u32) -> bool + Send + Sync + 'static) -> Self {
        self.before_turn = Some(Box::new(hook));
        self
    }

    /// After `turn.end`.
    pub fn after_turn(mut self, hook: impl Fn(&History, &Usage) + Send + Sync + 'static) -> Self {
        self.after_turn = Some(Box::new(hook));
        self
    }

    /// Before `tool.start`: tool name, call id, arguments.
    pub fn before_tool(mut self, hook: impl Fn(&str, &str, &Value) -> bool + Send + Sync + 'static) -> Self {
        self.before_tool = Some(Box::new(hook));
        self
    }

    /// After `tool.end`: tool name, call id, whether it failed.
    pub fn after_tool(mut self, hook: impl Fn(&str, &str, bool) + Send + Sync + 'static) -> Self {
        self.after_tool = Some(Box::new(hook));
        self
    }

    /// Before `tool.update`: tool name, call id, the partial result's text.
    pub fn before_tool_update(
        mut self,
        hook: impl Fn(&str, &str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.before_tool_update = Some(Box::new(hook));
        self
    }

    /// After `tool.update`: tool name, call id, the partial result's text.
    pub fn after_tool_update(mut self, hook: impl Fn(&str, &str, &str) + Send + Sync + 'static) -> Self {
        self.after_tool_update = Some(Box::new(hook));
        self
    }

    /// When the run fails.
    pub fn on_error(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Box::new(hook));
        self
    }
}

impl Hook for ClosureHook {
    fn before_run<'a>(&'a self, history: &'a History, run_index: usize) -> Answer<'a, Flow> {
        Flow::from(self.before_run.as_ref().is_none_or(|hook| hook(history, run_index))).into()
    }

    fn after_run<'a>(&'a self, output: &'a AgentOutput) -> Answer<'a, ()> {
        self.after_run.iter().for_each(|hook| hook(output));
        Answer::Now(())
    }

    fn before_turn<'a>(&'a self, history: &'a History, turn_index: u32) -> Answer<'a, Flow> {
        Flow::from(self.before_turn.as_ref().is_none_or(|hook| hook(history, turn_index))).into()
    }

    fn after_turn<'a>(&'a self, history: &'a History, usage: &'a Usage) -> Answer<'a, ()> {
        self.after_turn.iter().for_each(|hook| hook(history, usage));
        Answer::Now(())
    }

    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        let asked = |hook: &BeforeToolFn| hook(call.name.as_str(), call.id.as_str(), &call.arguments);
        Flow::from(self.before_tool.as_ref().is_none_or(asked)).into()
    }

    fn after_tool<'a>(
        &'a self,
        call: &'a ToolCall,
        _result: &'a ToolResult,
        is_error: bool,
    ) -> Answer<'a, Amendment> {
        self.after_tool.iter().for_each(|hook| hook(call.name.as_str(), call.id.as_str(), is_error));
        Answer::Now(Amendment::default())
    }

    fn before_tool_update(&self, call: &ToolCall, text: &str) -> Flow {
        let asked = |hook: &BeforeToolUpdateFn| hook(call.name.as_str(), call.id.as_str(), text);
        Flow::from(self.before_tool_update.as_ref().is_none_or(asked))
    }

    fn after_tool_update(&self, call: &ToolCall, text: &str) {
        self.after_tool_update.iter().for_each(|hook| hook(call.name.as_str(), call.id.as_str(), text));
    }

    fn on_error(&self, message: &str) {
        self.on_error.iter().for_each(|hook| hook(message));
    }
}

/// A hook that answers every approval request with a callback.
pub(crate) struct OnApproval<F>(pub(crate) F);

impl<F, A> Hook for OnApproval<F>
where
    F: Fn(ApprovalRequest) -> A + Send + Sync,
    A: Future<Output = PermissionResponse> + Send + 'static,
{
    fn name(&self) -> &str {
        "on_approval"
    }

    fn answer_approval<'a>(
        &'a self,
        _call: &'a ToolCall,
        request: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        let answer = (self.0)(request.clone());
        Answer::later(async move { Some(answer.await) })
    }
}
