//! What the events of a run have held so far. Writer and reader keep the same state.

use std::collections::HashMap;
use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, Effect, Event, LlmMessage, Message, MessageEvent, RunEvent, RunId,
    StopReason, ToolCall, ToolCallId, ToolEvent, ToolName, ToolResult, ToolResultMessage, TurnEvent,
};
use serde_json::Value;

use super::stored::{Dedup, ResultShell, TextOf};

/// The state of each open run.
#[derive(Debug, Default)]
pub(super) struct SeenRuns {
    runs: HashMap<RunId, SeenRun>,
}

/// The state of one run.
#[derive(Debug, Default)]
pub(super) struct SeenRun {
    /// The message that started and has not ended.
    open: Option<Arc<AgentMessage>>,
    /// The assistant message of the turn.
    answer: Option<Arc<AgentMessage>>,
    /// The tool results of the turn.
    tool_results: HashMap<ToolCallId, Arc<ToolResult>>,
    /// The messages that hold these results.
    result_messages: Vec<Arc<AgentMessage>>,
    produced: Vec<Arc<AgentMessage>>,
}

impl SeenRuns {
    /// The state of a run that has started.
    pub(super) fn known(&self, run_id: &RunId) -> Option<&SeenRun> {
        self.runs.get(run_id)
    }

    pub(super) fn observe(&mut self, event: &Event) {
        let Some(run_id) = &event.run_id else { return };
        let run = self.runs.entry(run_id.clone()).or_default();
        match &event.kind {
            AgentEvent::Turn(TurnEvent::Start { .. }) => {
                run.answer = None;
                run.tool_results.clear();
                run.result_messages.clear();
            }
            AgentEvent::Message(MessageEvent::Start { message }) => run.open = Some(Arc::clone(message)),
            AgentEvent::Message(MessageEvent::End { message }) => run.end_message(message),
            AgentEvent::Tool(ToolEvent::End { call_id, result, .. }) => {
                run.tool_results.insert(call_id.clone(), Arc::clone(result));
            }
            AgentEvent::Run(RunEvent::End { .. }) => {
                self.runs.remove(run_id);
            }
            _ => {}
        }
    }
}

impl SeenRun {
    fn end_message(&mut self, message: &Arc<AgentMessage>) {
        self.open = None;
        self.produced.push(Arc::clone(message));
        match message.as_llm() {
            Some(Message::Assistant(_)) => self.answer = Some(Arc::clone(message)),
            Some(Message::ToolResult(_)) => self.result_messages.push(Arc::clone(message)),
            Some(Message::User(_)) | None => {}
        }
    }

    pub(super) fn open_message(&self) -> Option<Arc<AgentMessage>> {
        self.open.clone()
    }

    /// Whether `message` is the open one.
    pub(super) fn has_begun(&self, message: &Arc<AgentMessage>) -> bool {
        self.open.as_ref().is_some_and(|open| is_same(open, message))
    }

    fn call(&self, call_id: &ToolCallId) -> Option<&ToolCall> {
        self.answer.as_ref()?.as_assistant()?.tool_calls().find(|call| call.id == *call_id)
    }

    /// Whether the model wrote exactly this call.
    pub(super) fn is_call(&self, call_id: &ToolCallId, name: &ToolName, arguments: &Arc<Value>) -> bool {
        self.call(call_id).is_some_and(|call| {
            let same = Arc::ptr_eq(&call.arguments, arguments) || call.arguments == *arguments;
            same && call.name == *name
        })
    }

    pub(super) fn expand_call(&self, call_id: &ToolCallId, effect: Effect) -> Option<AgentEvent> {
        let call = self.call(call_id)?;
        let (name, args) = (call.name.clone(), Arc::clone(&call.arguments));
        Some(AgentEvent::Tool(ToolEvent::Start { call_id: call_id.clone(), name, args, effect, grant: None }))
    }

    /// A tool result message without its content, if `tool.end` already holds the content.
    pub(super) fn dedup_start(&self, message: &AgentMessage) -> Option<Dedup> {
        let AgentMessage::Llm(LlmMessage { message: Message::ToolResult(result), turn_id }) = message else {
            return None;
        };
        let known = self.tool_results.get(&result.tool_call_id)?;
        if known.content != result.content || result.content.is_empty() {
            return None;
        }
        let message = ToolResultMessage { content: Vec::new(), ..result.clone() };
        Some(Dedup::ToolResult { message: ResultShell { message, turn_id: turn_id.clone() } })
    }

    pub(super) fn expand_start(&self, shell: &ResultShell) -> Option<AgentEvent> {
        let known = self.tool_results.get(&shell.message.tool_call_id)?;
        let message = ToolResultMessage { content: known.content.clone(), ..shell.message.clone() };
        let message = LlmMessage { message: Message::ToolResult(message), turn_id: shell.turn_id.clone() };
        Some(AgentEvent::Message(MessageEvent::Start { message: Arc::new(AgentMessage::Llm(message)) }))
    }

    /// The assistant message of the turn and its tool results.
    pub(super) fn turn(&self) -> (Option<Arc<AgentMessage>>, Vec<Arc<AgentMessage>>) {
        (self.answer.clone(), self.result_messages.clone())
    }

    pub(super) fn is_turn(&self, answer: Option<&Arc<AgentMessage>>, results: &[Arc<AgentMessage>]) -> bool {
        let same_answer = match (&self.answer, answer) {
            (Some(known), Some(given)) => is_same(known, given),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_answer && are_same(&self.result_messages, results)
    }

    /// The output without its messages, if the run's events hold exactly these.
    pub(super) fn dedup_end(&self, output: &AgentOutput) -> Option<Dedup> {
        if !are_same(&self.produced, &output.messages) {
            return None;
        }
        let text = if output.text == self.last_text() { TextOf::LastAnswer } else { TextOf::Output };
        let own_text = match text {
            TextOf::LastAnswer => String::new(),
            TextOf::Output => output.text.clone(),
        };
        let output = AgentOutput {
            text: own_text,
            usage: output.usage,
            cost: output.cost,
            turns: output.turns,
            structured: output.structured.clone(),
            unfinished: output.unfinished.clone(),
            ..AgentOutput::new(output.end.clone())
        };
        Some(Dedup::AgentEnd { output, text })
    }

    pub(super) fn expand_end(&self, output: &AgentOutput, text: TextOf) -> Option<AgentEvent> {
        let text = match text {
            TextOf::LastAnswer => self.last_text(),
            TextOf::Output => output.text.clone(),
        };
        let output = AgentOutput { messages: self.produced.clone(), text, ..output.clone() };
        Some(AgentEvent::Run(RunEvent::End { output: Arc::new(output) }))
    }

    /// The text of the last answer that did not end with an error.
    fn last_text(&self) -> String {
        let answers = self.produced.iter().rev().filter_map(|message| message.as_assistant());
        let mut whole = answers.filter(|answer| answer.stop_reason != StopReason::Error);
        whole.next().map(|answer| answer.text()).unwrap_or_default()
    }
}

fn is_same(one: &Arc<AgentMessage>, other: &Arc<AgentMessage>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

fn are_same(one: &[Arc<AgentMessage>], other: &[Arc<AgentMessage>]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
}
