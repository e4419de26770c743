//! `LoopEvent`: an event in the record of a loop, without parts that are stored elsewhere in the record.

use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, Event, LlmMessage, Message, MessageEvent, RunEvent, Timestamp,
    ToolResultMessage, TurnEvent, UserMessage,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::deep;

#[derive(Debug, Clone)]
pub enum LoopEvent {
    Known(LoopFact),
    /// An event of another version, byte for byte.
    Unknown(Box<RawValue>),
}

/// An event of a known kind.
///
/// Each message is stored once, in its `message.end`; `message.start`, `turn.end` and `agent.end` omit it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopFact {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: AgentEvent,
}

impl LoopEvent {
    /// The event, if this version knows it.
    pub fn fact(&self) -> Option<&LoopFact> {
        match self {
            Self::Known(fact) => Some(fact),
            Self::Unknown(_) => None,
        }
    }
}

impl From<&Event> for LoopFact {
    fn from(event: &Event) -> Self {
        Self { seq: event.seq, at: event.at, kind: without_repeats(&event.kind) }
    }
}

impl PartialEq for LoopEvent {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(one), Self::Known(two)) => one == two,
            (Self::Unknown(one), Self::Unknown(two)) => one.get() == two.get(),
            (Self::Known(_), Self::Unknown(_)) | (Self::Unknown(_), Self::Known(_)) => false,
        }
    }
}

impl Serialize for LoopEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(fact) => fact.serialize(serializer),
            Self::Unknown(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for LoopEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        match deep::from_str(raw.get()) {
            Ok(LoopFact { kind: AgentEvent::Unknown(_), .. }) | Err(_) => Ok(Self::Unknown(raw)),
            Ok(fact) => Ok(Self::Known(fact)),
        }
    }
}

/// The event without the messages that other events of the loop hold.
fn without_repeats(kind: &AgentEvent) -> AgentEvent {
    if let AgentEvent::Message(MessageEvent::Start { message }) = kind {
        return AgentEvent::Message(MessageEvent::Start { message: without_content(message) });
    }
    if let AgentEvent::Turn(TurnEvent::End { turn_index, usage, message: _, tool_results: _ }) = kind {
        let (turn_index, usage) = (*turn_index, *usage);
        return AgentEvent::Turn(TurnEvent::End {
            turn_index,
            message: None,
            tool_results: Vec::new(),
            usage,
        });
    }
    if let AgentEvent::Run(RunEvent::End { output }) = kind {
        let output = AgentOutput {
            text: output.text.clone(),
            usage: output.usage,
            cost: output.cost,
            turns: output.turns,
            structured: output.structured.clone(),
            unfinished: output.unfinished.clone(),
            ..AgentOutput::new(output.end.clone())
        };
        return AgentEvent::Run(RunEvent::End { output: Arc::new(output) });
    }
    kind.clone()
}

/// The message without its content.
fn without_content(message: &Arc<AgentMessage>) -> Arc<AgentMessage> {
    let AgentMessage::Llm(LlmMessage { message: llm_message, turn_id }) = &**message else {
        return Arc::clone(message);
    };
    let without_blocks = match llm_message {
        Message::User(UserMessage { timestamp, author, content: _ }) => {
            Message::User(UserMessage { content: Vec::new(), timestamp: *timestamp, author: *author })
        }
        Message::ToolResult(result) => Message::ToolResult(ToolResultMessage {
            content: Vec::new(),
            tool_call_id: result.tool_call_id.clone(),
            tool_name: result.tool_name.clone(),
            is_error: result.is_error,
            timestamp: result.timestamp,
        }),
        // An answer starts empty.
        Message::Assistant(_) => return Arc::clone(message),
    };
    Arc::new(AgentMessage::Llm(LlmMessage { message: without_blocks, turn_id: turn_id.clone() }))
}
