//! A conversation from elsewhere as the first run of a session: every message in the order that the log of a run has.

use std::collections::HashMap;
use std::sync::Arc;

use rheon_store::claude::{TranscriptMessage, imported_metadata};
use rheon_types::{
    AgentEvent, AgentId, AgentMessage, AgentOutput, AssistantMessage, Content, Effect, Event, LlmMessage,
    Message, MessageEvent, MicroUsd, ModelEvent, RunEnd, RunEvent, RunId, SessionId, StopReason, Timestamp,
    ToolCall, ToolCallId, ToolEvent, ToolResult, ToolResultMessage, TurnEvent, TurnId, TurnTrigger, Usage,
};
use serde_json::{Value, json};

/// The part of the id of an imported run that says so.
pub(super) const SEGMENT: &str = "import";

/// What the model reads where a call has no result.
const NO_RESULT: &str = include_str!("no_result.md");

/// Where a conversation comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) session: String,
    pub(super) path: String,
    pub(super) model: Option<String>,
}

impl Origin {
    /// What the log says of it; `entries` are the uuids of each message in the transcript.
    fn metadata(&self, entries: &[Vec<String>]) -> Value {
        let origin = json!({"program": "claude-code", "session": self.session, "path": self.path});
        imported_metadata(origin, entries)
    }
}

/// Where in a session a conversation from elsewhere is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ImportPosition {
    /// The number of the last event.
    pub(super) seq: u64,
    /// How many runs were imported before.
    pub(super) runs: usize,
    pub(super) at: Timestamp,
}

/// The events of a run of session `session_id` with `messages`. Usage elsewhere is not counted.
pub(super) fn events(
    session_id: &SessionId,
    position: ImportPosition,
    origin: &Origin,
    messages: Vec<TranscriptMessage>,
) -> Vec<Event> {
    let ImportPosition { seq, runs, at } = position;
    let run_id = RunId::derive(session_id, SEGMENT, runs + 1);
    let mut run = Imported {
        run_id: run_id.clone(),
        at,
        kinds: Vec::new(),
        turn: None,
        turns: 0,
        said: Vec::new(),
        entries: Vec::new(),
        text: String::new(),
    };
    run.all(messages);
    run.end();
    let start = AgentEvent::Run(RunEvent::Start {
        agent_id: AgentId::from(SEGMENT),
        parent_run_id: None,
        continuation: None,
        model: origin.model.as_deref().unwrap_or("unknown").into(),
        metadata: Some(Arc::new(origin.metadata(&run.entries))),
        settings: None,
        history: None,
        cuts: Vec::new(),
    });
    let event =
        |(seq, kind)| Event { seq, at, session_id: session_id.clone(), run_id: Some(run_id.clone()), kind };
    (seq + 1..).zip(std::iter::once(start).chain(run.kinds)).map(event).collect()
}

struct Imported {
    run_id: RunId,
    at: Timestamp,
    kinds: Vec<AgentEvent>,
    turn: Option<OpenTurn>,
    turns: u32,
    said: Vec<Arc<AgentMessage>>,
    /// The entries of each message that was said.
    entries: Vec<Vec<String>>,
    text: String,
}

#[derive(Default)]
struct OpenTurn {
    answer: Option<Arc<AgentMessage>>,
    results: Vec<Arc<AgentMessage>>,
}

impl Imported {
    fn all(&mut self, messages: Vec<TranscriptMessage>) {
        let mut messages = messages.into_iter().filter_map(as_llm).peekable();
        while let Some((message, entries)) = messages.next() {
            match message {
                Message::User(_) => {
                    self.before(Speaker::User);
                    self.say(message, entries);
                }
                Message::Assistant(answer) => {
                    let mut results = HashMap::new();
                    while let Some((Message::ToolResult(result), entries)) =
                        messages.next_if(|(next, _)| matches!(next, Message::ToolResult(_)))
                    {
                        results.insert(result.tool_call_id.clone(), (result, entries));
                    }
                    self.answer(answer, entries, results);
                }
                // A result without its call has no meaning.
                Message::ToolResult(_) => {}
            }
        }
    }

    /// Ends the turn if it is over, and begins one if there is none.
    fn before(&mut self, speaker: Speaker) {
        let is_over = self.turn.as_ref().is_some_and(|turn| turn.answer.is_some());
        if is_over {
            self.end_turn();
        }
        if self.turn.is_none() {
            let triggered_by = match speaker {
                Speaker::User => TurnTrigger::User,
                Speaker::Model => TurnTrigger::Continuation,
            };
            self.kinds.push(AgentEvent::Turn(TurnEvent::Start { turn_index: self.turns, triggered_by }));
            self.turns += 1;
            self.turn = Some(OpenTurn::default());
        }
    }

    fn answer(
        &mut self,
        answer: AssistantMessage,
        entries: Vec<String>,
        mut results: HashMap<ToolCallId, (ToolResultMessage, Vec<String>)>,
    ) {
        self.before(Speaker::Model);
        let calls: Vec<ToolCall> = match answer.stop_reason {
            // The calls of an answer that failed never ran.
            StopReason::Error => Vec::new(),
            StopReason::Stop | StopReason::Length | StopReason::ToolUse | StopReason::Aborted => {
                answer.tool_calls().cloned().collect()
            }
        };
        let (model, stop_reason) = (answer.model.as_str().into(), answer.stop_reason);
        self.kinds.push(AgentEvent::Model(ModelEvent::Start { model, tokens_estimate: 0, reserved: None }));
        self.text = answer.text();
        let message = self.say(Message::Assistant(answer), entries);
        self.kinds.push(AgentEvent::Model(ModelEvent::End {
            usage: Usage::default(),
            stop_reason,
            cost: Some(MicroUsd::default()),
            first_token_ms: None,
            duration_ms: 0,
            estimated: None,
        }));
        if let Some(turn) = &mut self.turn {
            turn.answer = Some(message);
        }
        let mut answered = Vec::new();
        for call in calls {
            let missing = || (no_result(&call, self.at), Vec::new());
            let (result, entries) = results.remove(&call.id).unwrap_or_else(missing);
            self.call(call, &result);
            answered.push((result, entries));
        }
        for (result, entries) in answered {
            let message = self.say(Message::ToolResult(result), entries);
            if let Some(turn) = &mut self.turn {
                turn.results.push(message);
            }
        }
    }

    fn call(&mut self, call: ToolCall, result: &ToolResultMessage) {
        let ToolCall { id: call_id, name, arguments, .. } = call;
        self.kinds.push(AgentEvent::Tool(ToolEvent::Start {
            call_id: call_id.clone(),
            name: name.clone(),
            args: arguments,
            effect: Effect::Unsafe,
            grant: None,
        }));
        let content = result.content.clone();
        self.kinds.push(AgentEvent::Tool(ToolEvent::End {
            call_id,
            name,
            result: Arc::new(ToolResult { content, details: Value::Null, child_run_id: None }),
            is_error: result.is_error,
            duration_ms: 0,
            child_run_id: None,
        }));
    }

    fn say(&mut self, message: Message, entries: Vec<String>) -> Arc<AgentMessage> {
        self.entries.push(entries);
        let turn_id = TurnId { run_id: self.run_id.clone(), index: self.turns.saturating_sub(1) };
        let message = Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id: Some(turn_id) }));
        self.kinds.push(AgentEvent::Message(MessageEvent::Start { message: Arc::clone(&message) }));
        self.kinds.push(AgentEvent::Message(MessageEvent::End { message: Arc::clone(&message) }));
        self.said.push(Arc::clone(&message));
        message
    }

    fn end_turn(&mut self) {
        if let Some(OpenTurn { answer, results }) = self.turn.take() {
            self.kinds.push(AgentEvent::Turn(TurnEvent::End {
                turn_index: self.turns.saturating_sub(1),
                message: answer,
                tool_results: results,
                usage: Usage::default(),
            }));
        }
    }

    fn end(&mut self) {
        self.end_turn();
        let output = AgentOutput {
            messages: std::mem::take(&mut self.said),
            text: std::mem::take(&mut self.text),
            cost: Some(MicroUsd::default()),
            turns: self.turns,
            ..AgentOutput::new(RunEnd::Completed)
        };
        self.kinds.push(AgentEvent::Run(RunEvent::End { output: Arc::new(output) }));
    }
}

/// Whose words begin a turn.
#[derive(Debug, Clone, Copy)]
enum Speaker {
    User,
    Model,
}

fn as_llm(said: TranscriptMessage) -> Option<(Message, Vec<String>)> {
    match said.message {
        AgentMessage::Llm(message) => Some((message.message, said.uuids)),
        AgentMessage::Extension(_) => None,
    }
}

fn no_result(call: &ToolCall, timestamp: Timestamp) -> ToolResultMessage {
    ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Content::text(NO_RESULT.trim_end())],
        is_error: true,
        timestamp,
    }
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
