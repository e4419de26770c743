//! What slim events look like on disk.

use std::borrow::Cow;

use rheon_types::{
    AgentEvent, AgentOutput, Effect, Event, RunId, SessionId, Timestamp, ToolCallId, ToolResultMessage,
    TurnId, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event that leaves something out.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredDedup<'a> {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) session_id: SessionId,
    #[serde(alias = "loop_id")]
    pub(super) run_id: Option<RunId>,
    pub(super) kind: Cow<'a, Dedup>,
}

/// What is left of an event. The names differ from those of whole events, so that none is taken for the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Dedup {
    /// `tool.start` with the name and the arguments that the model wrote.
    #[serde(rename = "slim.tool_start")]
    ToolStart { call_id: ToolCallId, effect: Effect },
    /// `message.start` of a tool result whose content is that of the tool's own.
    #[serde(rename = "slim.tool_result")]
    ToolResult { message: ResultShell },
    /// `message.end` of the message that has begun.
    #[serde(rename = "slim.message_end")]
    MessageEnd,
    /// `turn.end` with the messages of the turn.
    #[serde(rename = "slim.turn_end")]
    TurnEnd { turn_index: u32, usage: Usage },
    /// `agent.end` with the messages of the run.
    #[serde(rename = "slim.agent_end")]
    AgentEnd {
        /// Without messages, and without the text if that can be found.
        output: AgentOutput,
        text: TextOf,
    },
}

/// The message of a tool result without its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ResultShell {
    /// With no content.
    pub(super) message: ToolResultMessage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turn_id: Option<TurnId>,
}

/// Where the text of an output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TextOf {
    /// In the output itself.
    Output,
    /// It is that of the run's last answer.
    LastAnswer,
}

/// How the kind of a slim event begins. In a text of somebody's its quotes would be escaped.
const SLIM_KIND: &str = "\"kind\":{\"type\":\"slim.";

impl<'a> StoredDedup<'a> {
    pub(super) fn of(event: &Event, slim: &'a Dedup) -> Self {
        Self {
            seq: event.seq,
            at: event.at,
            session_id: event.session_id.clone(),
            run_id: event.run_id.clone(),
            kind: Cow::Borrowed(slim),
        }
    }

    pub(super) fn with(self, kind: AgentEvent) -> Event {
        Event { seq: self.seq, at: self.at, session_id: self.session_id, run_id: self.run_id, kind }
    }

    /// Whether `value` is a slim event.
    pub(super) fn is_slim(value: &Value) -> bool {
        let name = value.get("kind").and_then(|kind| kind.get("type")).and_then(Value::as_str);
        name.is_some_and(|name| name.starts_with("slim."))
    }

    /// The slim event that `json` is, if it is one at all.
    pub(super) fn read(json: &str) -> Option<Result<StoredDedup<'static>, serde_json::Error>> {
        #[derive(Deserialize)]
        struct Tagged<'a> {
            #[serde(borrow)]
            kind: Tag<'a>,
        }
        #[derive(Deserialize)]
        struct Tag<'a> {
            #[serde(rename = "type", borrow)]
            name: Cow<'a, str>,
        }
        // Looking for the prefix first spares most events from being read twice.
        if !json.contains("\"slim.") {
            return None;
        }
        // As it is written, so that it is not read twice either.
        if json.contains(SLIM_KIND)
            && let Ok(stored) = serde_json::from_str(json)
        {
            return Some(Ok(stored));
        }
        let tagged: Tagged<'_> = serde_json::from_str(json).ok()?;
        tagged.kind.name.starts_with("slim.").then(|| serde_json::from_str(json))
    }
}
