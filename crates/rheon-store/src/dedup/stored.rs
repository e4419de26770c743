//! The on-disk form of deduplicated events.

use std::borrow::Cow;

use rheon_types::{
    AgentEvent, AgentOutput, Effect, Event, RunId, SessionId, Timestamp, ToolCallId, ToolResultMessage,
    TurnId, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredDedup<'a> {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) session_id: SessionId,
    #[serde(alias = "loop_id")]
    pub(super) run_id: Option<RunId>,
    pub(super) kind: Cow<'a, Dedup>,
}

/// The remaining part of an event. The type names differ from those of complete events, so that they cannot be
/// confused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Dedup {
    /// `tool.start` with the name and arguments of the model's call.
    #[serde(rename = "slim.tool_start")]
    ToolStart { call_id: ToolCallId, effect: Effect },
    /// `message.start` of a tool result whose content is in `tool.end`.
    #[serde(rename = "slim.tool_result")]
    ToolResult { message: ResultShell },
    /// `message.end` of the open message.
    #[serde(rename = "slim.message_end")]
    MessageEnd,
    /// `turn.end` with the messages of the turn.
    #[serde(rename = "slim.turn_end")]
    TurnEnd { turn_index: u32, usage: Usage },
    /// `agent.end` with the messages of the run.
    #[serde(rename = "slim.agent_end")]
    AgentEnd {
        /// Without messages, and without the text if another event holds it.
        output: AgentOutput,
        text: TextOf,
    },
}

/// A tool result message without its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ResultShell {
    /// Its content is empty.
    pub(super) message: ToolResultMessage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turn_id: Option<TurnId>,
}

/// Where the text of an output is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TextOf {
    Output,
    /// It equals the text of the run's last answer.
    LastAnswer,
}

/// The start of a deduplicated event's kind. Inside a text its quotes would be escaped.
const DEDUP_KIND: &str = "\"kind\":{\"type\":\"slim.";

impl<'a> StoredDedup<'a> {
    pub(super) fn of(event: &Event, reduced: &'a Dedup) -> Self {
        Self {
            seq: event.seq,
            at: event.at,
            session_id: event.session_id.clone(),
            run_id: event.run_id.clone(),
            kind: Cow::Borrowed(reduced),
        }
    }

    pub(super) fn with(self, kind: AgentEvent) -> Event {
        Event { seq: self.seq, at: self.at, session_id: self.session_id, run_id: self.run_id, kind }
    }

    pub(super) fn is_deduped(value: &Value) -> bool {
        let name = value.get("kind").and_then(|kind| kind.get("type")).and_then(Value::as_str);
        name.is_some_and(|name| name.starts_with("slim."))
    }

    /// Parses `json` if it is a deduplicated event.
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
        // This check saves most events from being parsed twice.
        if !json.contains("\"slim.") {
            return None;
        }
        // The usual form, which is parsed only once.
        if json.contains(DEDUP_KIND)
            && let Ok(stored) = serde_json::from_str(json)
        {
            return Some(Ok(stored));
        }
        let tagged: Tagged<'_> = serde_json::from_str(json).ok()?;
        tagged.kind.name.starts_with("slim.").then(|| serde_json::from_str(json))
    }
}
