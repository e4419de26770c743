//! The recorded tools: each ends when its end comes in the script, with the result it had.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rheon_types::event::{ApprovalRequest, Responder};
use rheon_types::{
    AgentEvent, ApprovalEvent, BoxFuture, ChildApproval, Effect, Hold, Tool, ToolCallId, ToolContext,
    ToolError, ToolEvent, ToolName, ToolResult, TurnEvent,
};
use serde_json::Value;

use super::director::{Director, Reached};
use super::script::{error_kind, outcome};

/// A tool that gives what it gave.
pub(super) struct RecordedTool {
    pub(super) director: Arc<Director>,
    pub(super) name: ToolName,
}

/// What a running tool does next.
enum Step {
    Return(Result<ToolResult, ToolError>),
    Ask(Arc<ApprovalRequest>),
    Wait,
}

/// What the loop says of a tool that it stopped because another ended the run.
const STOPPED: &str = "the tool was stopped";

impl Director {
    fn tool_step(&self, call_id: &ToolCallId) -> Step {
        let (script, state) = (&self.script, self.state());
        let place = state.next;
        if state.is_over {
            return Step::Wait;
        }
        let Some(next) = script.kind(place) else { return Step::Wait };
        let is_next = match next {
            AgentEvent::Approval(ApprovalEvent::Required { request }) if request.call_id == *call_id => {
                return if script.is_of_tool(request) { Step::Ask(Arc::clone(request)) } else { Step::Wait };
            }
            AgentEvent::Tool(ToolEvent::End { call_id: ending, .. }) if ending == call_id => true,
            // Another ends the run, and this one had its result by then.
            AgentEvent::Tool(ToolEvent::End { call_id: ending, result, .. }) => {
                error_kind(result) == Some("fatal")
                    && state.returned.contains(ending)
                    && is_only_preceded(script.kinds_from(place), call_id, |id| state.returned.contains(id))
            }
            AgentEvent::Approval(ApprovalEvent::Resolved {
                request_id, by: Responder::Cancelled, ..
            }) => script.is_question_of(request_id.as_str(), call_id),
            _ => false,
        };
        match script.tool_end(place, call_id.as_str()) {
            Some((result, is_error)) if is_next && !self.is_ended_by_loop(place, result, is_error) => {
                Step::Return(outcome(result, is_error))
            }
            Some(_) | None => Step::Wait,
        }
    }

    /// Whether the loop itself ended the tool, which had nothing to say.
    fn is_ended_by_loop(&self, place: usize, result: &ToolResult, is_error: bool) -> bool {
        if !is_error {
            return false;
        }
        let text = result.as_text();
        let is_after_fatal = || {
            let before = (0..place).rev().filter_map(|at| self.script.kind(at));
            let turn = before.take_while(|kind| !matches!(kind, AgentEvent::Turn(TurnEvent::Start { .. })));
            let mut ends = turn.filter_map(|kind| match kind {
                AgentEvent::Tool(ToolEvent::End { result, .. }) => error_kind(result),
                _ => None,
            });
            ends.any(|kind| kind == "fatal")
        };
        self.script.stopped().is_some() && self.script.is_not_completed(&text)
            || text == STOPPED && is_after_fatal()
    }
}

/// Whether nothing but ends of tools comes before that of one call, and all of them are past.
fn is_only_preceded<'a>(
    kinds: impl Iterator<Item = &'a AgentEvent>,
    call_id: &ToolCallId,
    is_past: impl Fn(&ToolCallId) -> bool,
) -> bool {
    for kind in kinds {
        match kind {
            AgentEvent::Tool(ToolEvent::End { call_id: ended, .. }) if ended == call_id => return true,
            AgentEvent::Tool(ToolEvent::End { call_id: ended, result, .. })
                if is_past(ended) || result.as_text() == STOPPED => {}
            _ => return false,
        }
    }
    false
}

impl Tool for RecordedTool {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn description(&self) -> &str {
        "recorded"
    }

    fn parameters_schema(&self) -> Value {
        Value::Bool(true)
    }

    fn effect(&self) -> Effect {
        let script = &self.director.script;
        let mut coming = script.turn_from(self.director.next());
        let effect = coming.find_map(|kind| match kind {
            AgentEvent::Tool(ToolEvent::Start { name, effect, .. }) if *name == self.name => Some(*effect),
            _ => None,
        });
        effect.unwrap_or_default()
    }

    fn claim(&self, _arguments: &Value, context: &ToolContext) -> Result<Hold, ToolError> {
        let Reached::Place(place) = self.director.reached() else { return Ok(Hold::default()) };
        match self.director.script.kind(place) {
            Some(AgentEvent::Tool(ToolEvent::Blocked { call_id, reason, .. }))
                if *call_id == context.call_id =>
            {
                Err(ToolError::Denied(reason.clone()))
            }
            Some(_) | None => Ok(Hold::default()),
        }
    }

    fn execute<'a>(
        &'a self,
        _arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let mut questions = FuturesUnordered::new();
            loop {
                let mut changed = std::pin::pin!(self.director.changed.notified());
                changed.as_mut().enable();
                self.director.steps.fetch_add(1, Ordering::Relaxed);
                match self.director.tool_step(&context.call_id) {
                    Step::Return(outcome) => {
                        self.director.state().returned.insert(context.call_id.clone());
                        self.director.changed.notify_waiters();
                        return outcome;
                    }
                    Step::Ask(request) => {
                        // The request says already who asked.
                        let approval = ChildApproval { agent: String::new(), request };
                        questions.push(context.ask_for_child(approval));
                    }
                    Step::Wait => {}
                }
                tokio::select! {
                    biased;
                    Some(_) = questions.next(), if !questions.is_empty() => {}
                    () = changed => {}
                }
            }
        })
    }
}
