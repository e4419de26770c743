//! What the cases are made of: scenarios, conversations, a tool that does nothing.

use std::sync::{Arc, LazyLock};

use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon::types::{
    AgentMessage, AssistantMessage, BoxFuture, Effect, History, Message, StopReason, Timestamp, Tool,
    ToolContext, ToolError, ToolResult, Usage,
};
use serde_json::{Value, json};

/// One piece of streamed text: about one token.
pub(super) const DELTA: &str = "abcd ";

/// What the user says.
pub(super) const PROMPT: &str = "What does this function do?";

/// The answer of a text turn: ten words, ten deltas.
pub(super) const ANSWER: &str = "It adds two numbers and returns the sum of both.";

/// A provider that gives the same text answer to every request.
pub(super) fn answers() -> ScriptedProvider {
    ScriptedProvider::new(Scenario::new().turn(Turn::say(ANSWER).repeat()))
}

/// A provider that answers every request with so many deltas.
pub(super) fn streams(deltas: u32) -> ScriptedProvider {
    let text = DELTA.repeat(deltas as usize);
    ScriptedProvider::new(Scenario::new().turn(Turn::new().text(text).chunked(DELTA.len()).repeat()))
}

/// A provider that asks for so many tool calls at once and then answers.
pub(super) fn asks_once(calls: u32) -> ScriptedProvider {
    let turn = (0..calls).fold(Turn::new(), |turn, _| turn.tool_call(NOOP, arguments()));
    ScriptedProvider::new(Scenario::new().turn(turn).turn(ANSWER))
}

/// A provider that asks for one tool call in every turn, forever, under ids of its own.
pub(super) fn asks_forever() -> ScriptedProvider {
    ScriptedProvider::new(Scenario::new().turn(Turn::call(NOOP, arguments()).repeat()))
}

/// The same, under one id for all calls, as some services do.
pub(super) fn repeats_id() -> ScriptedProvider {
    let turn = Turn::new().tool_call_with_id("call", NOOP, arguments());
    ScriptedProvider::new(Scenario::new().turn(turn.repeat()))
}

const NOOP: &str = "noop";

fn arguments() -> Value {
    json!({ "path": "src/lib.rs" })
}

/// The arguments as the loop hands them to the tool.
pub(super) fn shared_arguments() -> Arc<Value> {
    Arc::new(arguments())
}

/// A tool with a schema worth checking and nothing to do.
pub(super) struct Noop;

impl Tool for Noop {
    fn name(&self) -> &str {
        NOOP
    }

    fn description(&self) -> &str {
        "Does nothing."
    }

    fn parameters_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "limit": { "type": "integer", "minimum": 1 } },
            "required": ["path"],
            "additionalProperties": false,
        })
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn execute<'a>(
        &'a self,
        _arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::text("ok")) })
    }
}

/// What a tool is given when it runs outside a loop.
pub(super) fn context() -> ToolContext {
    ToolContext::new("call_1_0", NOOP).in_run("s", "s.c.1")
}

/// A conversation of so many messages that shares no buffer with any other: a push onto it copies nothing.
pub(super) fn conversation(messages: usize) -> History {
    static MESSAGES: LazyLock<Vec<Arc<AgentMessage>>> =
        LazyLock::new(|| (0..10_000).map(|index| Arc::new(message(index).into())).collect());
    MESSAGES.iter().take(messages).cloned().collect()
}

fn message(index: usize) -> Message {
    let text = format!("This is message {index} of a conversation that goes on for a while.");
    if index.is_multiple_of(2) { Message::user(text, Timestamp::default()) } else { answer(text) }
}

/// A complete answer of the model.
pub(super) fn answer(text: String) -> Message {
    Message::Assistant(AssistantMessage {
        content: vec![text.as_str().into()],
        stop_reason: StopReason::Stop,
        model: "scripted".into(),
        provider: "scripted".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    })
}
