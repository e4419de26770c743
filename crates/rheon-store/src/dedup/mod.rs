//! Events without what earlier events of the same run carry, and back. Pure.
//!
//! A message stands in `message.start`, `message.end`, `turn.end` and `agent.end`, and the result of a tool in `tool.end`
//! besides. In memory they are one value; on disk they should be stored once. [`Deduplicator`] leaves out what the reader can
//! put back, and only if it would put back exactly that; [`Expander`] puts it back.

mod seen;
mod stored;

use rheon_types::{AgentEvent, Event, MessageEvent, RunEvent, ToolEvent, TurnEvent};
use seen::{SeenRun, SeenRuns};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use stored::{Dedup, StoredDedup};

/// Makes events slim, in the order in which they happen.
#[derive(Debug, Default)]
pub struct Deduplicator {
    memory: SeenRuns,
}

/// Makes slim events whole again, in the order in which they were stored.
#[derive(Debug, Default)]
pub struct Expander {
    memory: SeenRuns,
}

/// An event as it is stored.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct DedupedJson(Box<RawValue>);

/// A stored event that cannot be made whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DedupError {
    /// It is no event that this version knows.
    #[error("the event cannot be read: {0}")]
    Unreadable(String),
    /// It leans on an event that is not there.
    #[error("the event {seq} leaves out something that no earlier event has")]
    Missing {
        /// Its number.
        seq: u64,
    },
}

impl From<serde_json::Error> for DedupError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl DedupedJson {
    /// The JSON text.
    pub fn json(&self) -> &RawValue {
        &self.0
    }
}

impl Deduplicator {
    /// A deduplicator that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// `event` without what earlier ones carry.
    pub fn dedup(&self, event: &Event) -> Result<DedupedJson, serde_json::Error> {
        // Of a run that began before this deduplicator did, the reader knows nothing either.
        let slim = event
            .run_id
            .as_ref()
            .and_then(|run_id| self.memory.known(run_id))
            .and_then(|run| dedup_of(run, &event.kind));
        let stored = match &slim {
            Some(slim) => serde_json::value::to_raw_value(&StoredDedup::of(event, slim)),
            None => serde_json::value::to_raw_value(event),
        };
        Ok(DedupedJson(stored?))
    }

    /// The event is stored: later ones may lean on it.
    pub fn keep(&mut self, event: &Event) {
        self.memory.observe(event);
    }
}

impl Expander {
    /// An expander that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The whole event that `json` was made of.
    pub fn expand(&mut self, json: &str) -> Result<Event, DedupError> {
        let event = match StoredDedup::read(json) {
            Some(stored) => self.whole(stored?)?,
            None => serde_json::from_str(json)?,
        };
        self.memory.observe(&event);
        Ok(event)
    }

    /// The same of an event that was read already. Its texts are not copied.
    pub fn expand_value(&mut self, value: Value) -> Result<Event, DedupError> {
        let event = if StoredDedup::is_slim(&value) {
            self.whole(StoredDedup::deserialize(value)?)?
        } else {
            Event::deserialize(value)?
        };
        self.memory.observe(&event);
        Ok(event)
    }

    fn whole(&self, stored: StoredDedup<'static>) -> Result<Event, DedupError> {
        let missing = DedupError::Missing { seq: stored.seq };
        let known = stored.run_id.as_ref().and_then(|run_id| self.memory.known(run_id));
        let kind = known.and_then(|known| known.expand(&stored.kind)).ok_or(missing)?;
        Ok(stored.with(kind))
    }
}

/// What is left of an event of `run`, if it can do without something.
fn dedup_of(run: &SeenRun, event: &AgentEvent) -> Option<Dedup> {
    match event {
        AgentEvent::Tool(ToolEvent::Start { call_id, name, args, effect }) => run
            .is_call(call_id, name, args)
            .then_some(Dedup::ToolStart { call_id: call_id.clone(), effect: *effect }),
        AgentEvent::Message(MessageEvent::Start { message }) => run.slim_start(message),
        AgentEvent::Message(MessageEvent::End { message }) => {
            run.has_begun(message).then_some(Dedup::MessageEnd)
        }
        AgentEvent::Turn(TurnEvent::End { turn_index, message, tool_results, usage }) => run
            .is_turn(message.as_ref(), tool_results)
            .then_some(Dedup::TurnEnd { turn_index: *turn_index, usage: *usage }),
        AgentEvent::Run(RunEvent::End { output }) => run.slim_end(output),
        _ => None,
    }
}

impl SeenRun {
    /// The whole of what was left out.
    fn expand(&self, slim: &Dedup) -> Option<AgentEvent> {
        match slim {
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
