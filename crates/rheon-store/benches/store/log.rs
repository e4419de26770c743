//! The events of runs, as an agent with one busy tool would emit them.

use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, AssistantMessage, Content, Effect, Event, LlmMessage, Message,
    MessageEvent, MicroUsd, ModelEvent, RunEnd, RunEvent, RunId, SessionId, StopReason, Timestamp, ToolCall,
    ToolCallId, ToolEvent, ToolResult, ToolResultMessage, TurnEvent, TurnId, TurnTrigger, Usage,
};

/// The shape of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Turns with a tool call; one more ends the run.
    pub(crate) calls: u32,
    /// The length of each tool output.
    pub(crate) output_bytes: usize,
}

/// Emits numbered events.
pub(crate) struct Log<'a> {
    session_id: SessionId,
    run_id: RunId,
    seq: u64,
    at_ms: u64,
    emit: &'a mut dyn FnMut(Event),
    produced: Vec<Arc<AgentMessage>>,
}

impl<'a> Log<'a> {
    pub(crate) fn new(session: &str, at_ms: u64, emit: &'a mut dyn FnMut(Event)) -> Self {
        let (session_id, run_id) = (SessionId::from(session), RunId::from(format!("{session}.main.0")));
        Self { session_id, run_id, seq: 0, at_ms, emit, produced: Vec::new() }
    }

    fn emit(&mut self, kind: AgentEvent) {
        self.seq += 1;
        let (session_id, run_id) = (self.session_id.clone(), self.run_id.clone());
        let at = Timestamp::from_millis(self.at_ms + self.seq);
        (self.emit)(Event { seq: self.seq, at, session_id, run_id: Some(run_id), kind });
    }

    fn message(&mut self, message: Message, turn: u32, begins_empty: Option<Message>) -> Arc<AgentMessage> {
        let turn_id = Some(TurnId { run_id: self.run_id.clone(), index: turn });
        let of = |message| Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id: turn_id.clone() }));
        let message = of(message);
        let begun = begins_empty.map_or_else(|| Arc::clone(&message), of);
        self.emit(AgentEvent::Message(MessageEvent::Start { message: begun }));
        self.emit(AgentEvent::Message(MessageEvent::End { message: Arc::clone(&message) }));
        self.produced.push(Arc::clone(&message));
        message
    }

    /// One run that answers `prompt`.
    pub(crate) fn run(&mut self, number: u32, prompt: &str, shape: Shape) {
        self.run_id = format!("{}.main.{number}", self.session_id).into();
        self.produced.clear();
        self.emit(AgentEvent::Run(RunEvent::Start {
            agent_id: "agent".into(),
            parent_run_id: None,
            continuation: None,
            model: "model".into(),
            metadata: None,
            settings: None,
            history: None,
            cuts: Vec::new(),
        }));
        for turn in 0..=shape.calls {
            let triggered_by = if turn == 0 { TurnTrigger::User } else { TurnTrigger::Continuation };
            self.emit(AgentEvent::Turn(TurnEvent::Start { turn_index: turn, triggered_by }));
            if turn == 0 {
                self.message(Message::user(prompt, Timestamp::from_millis(self.at_ms)), turn, None);
            }
            self.turn(turn, (turn < shape.calls).then_some(shape.output_bytes));
        }
        let usage = Usage { input: 1_000, output: 100, ..Usage::default() };
        let output = AgentOutput {
            messages: self.produced.clone(),
            text: self
                .produced
                .last()
                .and_then(|message| message.as_llm())
                .map(Message::text)
                .unwrap_or_default(),
            usage,
            cost: Some(MicroUsd(5)),
            turns: shape.calls + 1,
            ..AgentOutput::new(RunEnd::Completed)
        };
        self.emit(AgentEvent::Run(RunEvent::End { output: Arc::new(output) }));
    }

    fn turn(&mut self, turn: u32, output_bytes: Option<usize>) {
        self.emit(AgentEvent::Model(ModelEvent::Start {
            model: "model".into(),
            tokens_estimate: 1_000,
            reserved: None,
        }));
        let call_id: ToolCallId = format!("call_{}", self.seq).into();
        let mut content =
            vec![Content::text(format!("This is step {turn}; I look at what is there before I go on."))];
        if output_bytes.is_some() {
            let arguments = Arc::new(serde_json::json!({ "path": format!("src/part_{turn}.rs") }));
            let (id, name) = (call_id.clone(), "read".into());
            content.push(Content::ToolCall(ToolCall {
                id,
                name,
                arguments,
                malformed: None,
                key_order: None,
            }));
        }
        let answer = |content| {
            Message::Assistant(AssistantMessage {
                content,
                stop_reason: StopReason::Stop,
                model: "model".into(),
                provider: "provider".into(),
                usage: Usage { input: 1_000, output: 100, ..Usage::default() },
                timestamp: Timestamp::from_millis(self.at_ms),
                error_message: None,
            })
        };
        let (whole, empty) = (answer(content), answer(Vec::new()));
        let message = self.message(whole, turn, Some(empty));
        let usage = Usage { input: 1_000, output: 100, ..Usage::default() };
        let (stop_reason, cost) = (StopReason::Stop, Some(MicroUsd(5)));
        self.emit(AgentEvent::Model(ModelEvent::End {
            usage,
            stop_reason,
            cost,
            first_token_ms: Some(300),
            duration_ms: 900,
            estimated: None,
        }));
        let tool_results = match output_bytes {
            Some(bytes) => vec![self.call(turn, &call_id, bytes)],
            None => Vec::new(),
        };
        self.emit(AgentEvent::Turn(TurnEvent::End {
            turn_index: turn,
            message: Some(message),
            tool_results,
            usage,
        }));
    }

    fn call(&mut self, turn: u32, call_id: &ToolCallId, output_bytes: usize) -> Arc<AgentMessage> {
        let (name, call_id) = (rheon_types::ToolName::from("read"), call_id.clone());
        let args = Arc::new(serde_json::json!({ "path": format!("src/part_{turn}.rs") }));
        self.emit(AgentEvent::Tool(ToolEvent::Start {
            call_id: call_id.clone(),
            name: name.clone(),
            args,
            effect: Effect::Pure,
            grant: None,
        }));
        let result = ToolResult::text(output(self.seq, output_bytes));
        let content = result.content.clone();
        self.emit(AgentEvent::Tool(ToolEvent::End {
            call_id: call_id.clone(),
            name: name.clone(),
            result: Arc::new(result),
            is_error: false,
            duration_ms: 4,
            child_run_id: None,
        }));
        let timestamp = Timestamp::from_millis(self.at_ms);
        let result =
            ToolResultMessage { tool_call_id: call_id, tool_name: name, content, is_error: false, timestamp };
        self.message(Message::ToolResult(result), turn, None)
    }
}

/// Lines of source text that no other output contains.
pub(crate) fn output(number: u64, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    for line in 1.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&format!(
            "{line:6}\tlet value_{number} = request.context(\"{line}\").read(buffer)?;\n"
        ));
    }
    text.truncate(bytes);
    text
}
