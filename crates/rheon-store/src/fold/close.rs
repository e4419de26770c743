//! Closes runs that were cut off because the program was killed or lost power. Open events are ended in order, every
//! tool call gets a result, and the result of an unfinished call says so.

use std::sync::Arc;

use rheon_types::event::{PermissionDecision, Responder, Scope};
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, ApprovalEvent, Content, Effect, Event, LlmMessage, Message,
    MessageEvent, ModelEvent, RunEnd, RunEvent, RunId, StopReason, Timestamp, ToolError, ToolEvent,
    ToolResult, ToolResultMessage, TurnEvent, TurnId, Usage,
};

use super::open_run::{CallStage, OpenCall, OpenRun, OpenTurn};
use super::state::SessionState;

/// The error of an answer that was cut off.
const CUT_OFF: &str = "the program ended before the answer was complete";

/// The result of a call that never started.
const NOT_STARTED: &str = "Not run: the program ended before this call started.";

impl SessionState {
    /// The events that close everything that is open, at time `now`. Applying them leaves no run open.
    pub fn closing_events(&self, now: Timestamp) -> Vec<Event> {
        let Some(session_id) = &self.session_id else { return Vec::new() };
        let mut closed = self.clone();
        let mut events = Vec::new();
        for (run_id, run) in &self.runs {
            for kind in run.closing(run_id, now) {
                let (session_id, run_id) = (session_id.clone(), run_id.clone());
                let event = Event { seq: closed.seq + 1, at: now, session_id, run_id: Some(run_id), kind };
                closed.apply(&event);
                events.push(event);
            }
        }
        events
    }
}

impl OpenRun {
    fn closing(&self, run_id: &RunId, now: Timestamp) -> Vec<AgentEvent> {
        let mut run = self.clone();
        let mut events = Vec::new();
        let mut emit = |run: &mut OpenRun, event: AgentEvent| {
            run.apply(&event);
            events.push(event);
        };
        if let Some(message) = run.open_message.clone() {
            emit(&mut run, AgentEvent::Message(MessageEvent::End { message: cut_off(&message) }));
        }
        if let Some(turn) = run.turn.clone() {
            for event in turn.closing_call(now) {
                emit(&mut run, event);
            }
            for question in run.questions.clone() {
                let request_id = question.id.clone();
                let (scope, by) = (Scope::Once, Responder::Cancelled);
                emit(
                    &mut run,
                    AgentEvent::Approval(ApprovalEvent::Resolved {
                        request_id,
                        decision: PermissionDecision::Deny,
                        scope,
                        by,
                        arguments: None,
                        offer: None,
                    }),
                );
            }
            let calls = run.turn.as_ref().map(|turn| turn.calls.clone()).unwrap_or_default();
            for event in calls.iter().filter_map(closing_tool) {
                emit(&mut run, event);
            }
            let turn_id = TurnId { run_id: run_id.clone(), index: turn.index };
            let calls = run.turn.as_ref().map(|turn| turn.calls.clone()).unwrap_or_default();
            for message in calls.iter().filter_map(|open| result(open, &turn_id, now)) {
                emit(&mut run, AgentEvent::Message(MessageEvent::Start { message: Arc::clone(&message) }));
                emit(&mut run, AgentEvent::Message(MessageEvent::End { message }));
            }
            if let Some(OpenTurn { index, answer, results, usage, .. }) = run.turn.clone() {
                let turn_end = AgentEvent::Turn(TurnEvent::End {
                    turn_index: index,
                    message: answer,
                    tool_results: results,
                    usage,
                });
                emit(&mut run, turn_end);
            }
        }
        events.push(AgentEvent::Run(RunEvent::End { output: Arc::new(run.output()) }));
        events
    }

    fn output(&self) -> AgentOutput {
        let answers = self.produced.iter().rev().filter_map(|message| message.as_assistant());
        let mut whole = answers.filter(|answer| answer.stop_reason != StopReason::Error);
        AgentOutput {
            messages: self.produced.clone(),
            text: whole.next().map(|answer| answer.text()).unwrap_or_default(),
            usage: self.usage,
            turns: self.turns,
            // The cost is unknown, because that of the last call is.
            ..AgentOutput::new(RunEnd::Aborted)
        }
    }
}

impl OpenTurn {
    /// Ends an open model call.
    fn closing_call(&self, now: Timestamp) -> Vec<AgentEvent> {
        if !self.is_calling {
            return Vec::new();
        }
        let mut events = Vec::new();
        if !self.has_answer_ended {
            let message = empty_answer(now);
            events.push(AgentEvent::Message(MessageEvent::Start { message: Arc::clone(&message) }));
            events.push(AgentEvent::Message(MessageEvent::End { message }));
        }
        events.push(AgentEvent::Model(ModelEvent::End {
            usage: Usage::default(),
            stop_reason: StopReason::Aborted,
            cost: None,
            first_token_ms: None,
            duration_ms: 0,
            estimated: None,
        }));
        events
    }
}

/// Ends an open message. A user message is complete; an assistant message is marked as aborted.
fn cut_off(message: &Arc<AgentMessage>) -> Arc<AgentMessage> {
    match &**message {
        AgentMessage::Llm(LlmMessage { message: Message::Assistant(answer), turn_id }) => {
            let mut answer = answer.clone();
            answer.stop_reason = StopReason::Aborted;
            answer.error_message = Some(CUT_OFF.into());
            let message = Message::Assistant(answer);
            Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id: turn_id.clone() }))
        }
        AgentMessage::Llm(_) | AgentMessage::Extension(_) => Arc::clone(message),
    }
}

/// The answer of a model call that had not returned anything yet.
fn empty_answer(now: Timestamp) -> Arc<AgentMessage> {
    let answer = rheon_types::AssistantMessage {
        content: Vec::new(),
        stop_reason: StopReason::Aborted,
        model: String::new(),
        provider: String::new(),
        usage: Usage::default(),
        timestamp: now,
        error_message: Some(CUT_OFF.into()),
    };
    Arc::new(AgentMessage::Llm(LlmMessage { message: Message::Assistant(answer), turn_id: None }))
}

/// Ends a running call, or blocks one that has not started.
fn closing_tool(open: &OpenCall) -> Option<AgentEvent> {
    let (call_id, name) = (open.call.id.clone(), open.call.name.clone());
    match &open.stage {
        CallStage::Waiting => {
            Some(AgentEvent::Tool(ToolEvent::Blocked { call_id, name, reason: NOT_STARTED.into() }))
        }
        CallStage::Running(effect) => {
            let error = ToolError::Cancelled(unknown_outcome(*effect).into());
            let result = Arc::new(ToolResult::from(&error));
            let (is_error, duration_ms, child_run_id) = (true, 0, None);
            Some(AgentEvent::Tool(ToolEvent::End {
                call_id,
                name,
                result,
                is_error,
                duration_ms,
                child_run_id,
            }))
        }
        CallStage::Answered { .. } | CallStage::Delivered => None,
    }
}

/// The text for the model and the user about a call whose outcome is unknown.
fn unknown_outcome(effect: Effect) -> &'static str {
    match effect {
        Effect::Pure => {
            "Interrupted: the program ended while this ran. It is read-only, so nothing has changed. Call it again if \
             you need it."
        }
        Effect::Idempotent => {
            "Outcome unknown: the program ended while this ran. It is safe to run it again."
        }
        Effect::Unsafe => {
            "Outcome unknown: the program ended while this ran, so it may have run in part or in full. Check before you \
             repeat it."
        }
    }
}

/// The result message that the model has not received yet.
fn result(open: &OpenCall, turn_id: &TurnId, now: Timestamp) -> Option<Arc<AgentMessage>> {
    let (content, is_error): (Vec<Content>, bool) = match &open.stage {
        CallStage::Answered { content, is_error } => (content.clone(), *is_error),
        CallStage::Waiting | CallStage::Running(_) | CallStage::Delivered => return None,
    };
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: open.call.id.clone(),
        tool_name: open.call.name.clone(),
        content,
        is_error,
        timestamp: now,
    });
    Some(Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id: Some(turn_id.clone()) })))
}
