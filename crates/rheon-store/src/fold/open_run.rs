//! `OpenRun`: a run that has started and not ended.

use std::sync::Arc;

use rheon_types::event::ApprovalRequest;
use rheon_types::{
    AgentEvent, AgentMessage, ApprovalEvent, Content, ContextEvent, Effect, Message, MessageEvent,
    ModelEvent, RunId, StopReason, ToolCall, ToolEvent, TurnEvent, Usage,
};

use super::unfinished_call::UnfinishedCall;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct OpenRun {
    pub(super) produced: Vec<Arc<AgentMessage>>,
    pub(super) usage: Usage,
    pub(super) turns: u32,
    pub(super) open_message: Option<Arc<AgentMessage>>,
    pub(super) turn: Option<OpenTurn>,
    pub(super) questions: Vec<Arc<ApprovalRequest>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct OpenTurn {
    pub(super) index: u32,
    /// Whether a model call is open.
    pub(super) is_calling: bool,
    pub(super) has_answer_ended: bool,
    pub(super) answer: Option<Arc<AgentMessage>>,
    pub(super) calls: Vec<OpenCall>,
    pub(super) results: Vec<Arc<AgentMessage>>,
    pub(super) usage: Usage,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenCall {
    pub(super) call: ToolCall,
    pub(super) stage: CallStage,
}

/// The progress of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallStage {
    /// Not started.
    Waiting,
    Running(Effect),
    /// Ended; the model has not received the result yet.
    Answered {
        content: Vec<Content>,
        is_error: bool,
    },
    /// The model has received the result.
    Delivered,
}

impl OpenRun {
    pub(super) fn apply(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Turn(TurnEvent::Start { turn_index, .. }) => {
                self.turns += 1;
                self.turn = Some(OpenTurn { index: *turn_index, ..OpenTurn::default() });
            }
            AgentEvent::Turn(TurnEvent::End { .. }) => self.turn = None,
            AgentEvent::Message(MessageEvent::Start { message }) => {
                self.open_message = Some(Arc::clone(message))
            }
            AgentEvent::Message(MessageEvent::End { message }) => {
                self.open_message = None;
                self.produced.push(Arc::clone(message));
                if let Some(turn) = &mut self.turn {
                    turn.take(message);
                }
            }
            AgentEvent::Approval(ApprovalEvent::Required { request }) => {
                self.questions.push(Arc::clone(request))
            }
            AgentEvent::Approval(ApprovalEvent::Resolved { request_id, .. }) => {
                self.questions.retain(|question| question.id != *request_id);
            }
            other => {
                if let Some(turn) = &mut self.turn {
                    turn.apply(other);
                }
            }
        }
        if let AgentEvent::Model(ModelEvent::End { usage, .. })
        | AgentEvent::Context(ContextEvent::CompactionEnd { usage, .. }) = event
        {
            self.usage += *usage;
        }
    }

    pub(super) fn unfinished_calls(&self, run_id: &RunId) -> Vec<UnfinishedCall> {
        let calls = self.turn.iter().flat_map(|turn| &turn.calls);
        calls
            .filter_map(|open| match open.stage {
                CallStage::Running(effect) => Some(UnfinishedCall {
                    run_id: run_id.clone(),
                    call_id: open.call.id.clone(),
                    tool_name: open.call.name.clone(),
                    arguments: Arc::clone(&open.call.arguments),
                    effect,
                }),
                CallStage::Waiting | CallStage::Answered { .. } | CallStage::Delivered => None,
            })
            .collect()
    }
}

impl OpenTurn {
    fn take(&mut self, message: &Arc<AgentMessage>) {
        match message.as_llm() {
            Some(Message::Assistant(answer)) => {
                self.has_answer_ended = true;
                self.answer = Some(Arc::clone(message));
                // The calls of a failed answer never run.
                if answer.stop_reason != StopReason::Error {
                    let open = |call: &ToolCall| OpenCall { call: call.clone(), stage: CallStage::Waiting };
                    self.calls = answer.tool_calls().map(open).collect();
                }
            }
            Some(Message::ToolResult(result)) => {
                self.results.push(Arc::clone(message));
                if let Some(open) = self.calls.iter_mut().find(|open| open.call.id == result.tool_call_id) {
                    open.stage = CallStage::Delivered;
                }
            }
            Some(Message::User(_)) | None => {}
        }
    }

    fn apply(&mut self, event: &AgentEvent) {
        let stage = match event {
            AgentEvent::Model(ModelEvent::Start { .. }) => {
                self.is_calling = true;
                self.has_answer_ended = false;
                return;
            }
            AgentEvent::Model(ModelEvent::End { usage, .. }) => {
                self.is_calling = false;
                self.usage += *usage;
                return;
            }
            AgentEvent::Tool(ToolEvent::Start { call_id, args, effect, .. }) => {
                (call_id, CallStage::Running(*effect), Some(args))
            }
            AgentEvent::Tool(ToolEvent::End { call_id, result, is_error, .. }) => {
                let content = result.content.clone();
                (call_id, CallStage::Answered { content, is_error: *is_error }, None)
            }
            AgentEvent::Tool(ToolEvent::Blocked { call_id, reason, .. }) => {
                let content = vec![Content::text(reason.clone())];
                (call_id, CallStage::Answered { content, is_error: true }, None)
            }
            _ => return,
        };
        let (call_id, stage, arguments) = stage;
        if let Some(open) = self.calls.iter_mut().find(|open| open.call.id == *call_id) {
            open.stage = stage;
            if let Some(arguments) = arguments {
                open.call.arguments = Arc::clone(arguments);
            }
        }
    }
}
