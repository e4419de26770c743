//! Drops the parts of an event that earlier events of the same run already hold, and restores them on read. Pure.
//!
//! A message appears in `message.start`, `message.end`, `turn.end` and `agent.end`, and a tool result in `tool.end`
//! as well. In memory they share one value; on disk they should be stored once. [`Deduplicator`] drops only what
//! [`Expander`] can restore exactly.

mod seen;
mod stored;

use rheon_types::{AgentEvent, Event, MessageEvent, RunEvent, ToolEvent, TurnEvent};
use seen::{SeenRun, SeenRuns};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use stored::{Dedup, StoredDedup};

/// Deduplicates events in the order they happen.
#[derive(Debug, Default)]
pub struct Deduplicator {
    seen: SeenRuns,
}

/// Restores deduplicated events in the order they were stored.
#[derive(Debug, Default)]
pub struct Expander {
    seen: SeenRuns,
}

/// The JSON of a deduplicated event.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct DedupedJson(Box<RawValue>);

/// A stored event that cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DedupError {
    /// Not an event this version can parse.
    #[error("cannot parse the event: {0}")]
    Unreadable(String),
    /// It refers to an earlier event that is missing.
    #[error("event {seq} refers to an earlier event that is missing")]
    Missing { seq: u64 },
}

impl From<serde_json::Error> for DedupError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl DedupedJson {
    pub fn json(&self) -> &RawValue {
        &self.0
    }
}

impl Deduplicator {
    pub fn new() -> Self {
        Self::default()
    }

    /// Drops the parts of `event` that earlier events hold.
    pub fn dedup(&self, event: &Event) -> Result<DedupedJson, serde_json::Error> {
        // A run that started before this deduplicator did is unknown to the reader as well.
        let reduced = event
            .run_id
            .as_ref()
            .and_then(|run_id| self.seen.known(run_id))
            .and_then(|run| dedup_of(run, &event.kind));
        let stored = match &reduced {
            Some(reduced) => serde_json::value::to_raw_value(&StoredDedup::of(event, reduced)),
            None => serde_json::value::to_raw_value(event),
        };
        Ok(DedupedJson(stored?))
    }

    /// Records a stored event, so that later ones can refer to it.
    pub fn observe(&mut self, event: &Event) {
        self.seen.observe(event);
    }
}

impl Expander {
    pub fn new() -> Self {
        Self::default()
    }

    /// Restores the event stored as `json`.
    pub fn expand(&mut self, json: &str) -> Result<Event, DedupError> {
        let event = match StoredDedup::read(json) {
            Some(stored) => self.restore(stored?)?,
            None => serde_json::from_str(json)?,
        };
        self.seen.observe(&event);
        Ok(event)
    }

    /// Like [`Self::expand`], for parsed JSON. Texts are moved, not copied.
    pub fn expand_value(&mut self, value: Value) -> Result<Event, DedupError> {
        let event = if StoredDedup::is_deduped(&value) {
            self.restore(StoredDedup::deserialize(value)?)?
        } else {
            Event::deserialize(value)?
        };
        self.seen.observe(&event);
        Ok(event)
    }

    fn restore(&self, stored: StoredDedup<'static>) -> Result<Event, DedupError> {
        let missing = DedupError::Missing { seq: stored.seq };
        let known = stored.run_id.as_ref().and_then(|run_id| self.seen.known(run_id));
        let kind = known.and_then(|known| known.expand(&stored.kind)).ok_or(missing)?;
        Ok(stored.with(kind))
    }
}

/// The deduplicated form of an event, if it has parts to drop.
fn dedup_of(run: &SeenRun, event: &AgentEvent) -> Option<Dedup> {
    match event {
        AgentEvent::Tool(ToolEvent::Start { call_id, name, args, effect, grant: None }) => run
            .is_call(call_id, name, args)
            .then_some(Dedup::ToolStart { call_id: call_id.clone(), effect: *effect }),
        AgentEvent::Message(MessageEvent::Start { message }) => run.dedup_start(message),
        AgentEvent::Message(MessageEvent::End { message }) => {
            run.has_begun(message).then_some(Dedup::MessageEnd)
        }
        AgentEvent::Turn(TurnEvent::End { turn_index, message, tool_results, usage }) => run
            .is_turn(message.as_ref(), tool_results)
            .then_some(Dedup::TurnEnd { turn_index: *turn_index, usage: *usage }),
        AgentEvent::Run(RunEvent::End { output }) => run.dedup_end(output),
        _ => None,
    }
}

impl SeenRun {
    fn expand(&self, reduced: &Dedup) -> Option<AgentEvent> {
        match reduced {
            Dedup::ToolStart { call_id, effect } => self.expand_call(call_id, *effect),
            Dedup::ToolResult { message } => self.expand_start(message),
            Dedup::MessageEnd => {
                self.open_message().map(|message| AgentEvent::Message(MessageEvent::End { message }))
            }
            Dedup::TurnEnd { turn_index, usage } => {
                let (message, tool_results) = self.turn();
                Some(AgentEvent::Turn(TurnEvent::End {
                    turn_index: *turn_index,
                    message,
                    tool_results,
                    usage: *usage,
                }))
            }
            Dedup::AgentEnd { output, text } => self.expand_end(output, *text),
        }
    }
}

#[cfg(test)]
mod dedup_tests;
