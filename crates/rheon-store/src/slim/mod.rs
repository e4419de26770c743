//! Events without what earlier events of the same run carry, and back. Pure.
//!
//! A message stands in `message.start`, `message.end`, `turn.end` and `agent.end`, and the result of a tool in `tool.end`
//! besides. In memory they are one value; on disk they should be stored once. [`Slimmer`] leaves out what the reader can
//! put back, and only if it would put back exactly that; [`Expander`] puts it back.

mod memory;
mod stored;

use memory::{Known, Memory};
use rheon_types::{AgentEvent, Event, MessageEvent, RunEvent, ToolEvent, TurnEvent};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use stored::{Slim, StoredSlim};

/// Makes events slim, in the order in which they happen.
#[derive(Debug, Default)]
pub struct Slimmer {
    memory: Memory,
}

/// Makes slim events whole again, in the order in which they were stored.
#[derive(Debug, Default)]
pub struct Expander {
    memory: Memory,
}

/// An event as it is stored.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Stored(Box<RawValue>);

/// A stored event that cannot be made whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
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

impl From<serde_json::Error> for ExpandError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl Stored {
    /// The JSON text.
    pub fn json(&self) -> &RawValue {
        &self.0
    }
}

impl Slimmer {
    /// A slimmer that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// `event` without what earlier ones carry.
    pub fn slim(&self, event: &Event) -> Result<Stored, serde_json::Error> {
        // Of a run that began before this slimmer did, the reader knows nothing either.
        let slim = event
            .run_id
            .as_ref()
            .and_then(|run_id| self.memory.known(run_id))
            .and_then(|run| slim_of(run, &event.kind));
        let stored = match &slim {
            Some(slim) => serde_json::value::to_raw_value(&StoredSlim::of(event, slim)),
            None => serde_json::value::to_raw_value(event),
        };
        Ok(Stored(stored?))
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
    pub fn expand(&mut self, json: &str) -> Result<Event, ExpandError> {
        let event = match StoredSlim::read(json) {
            Some(stored) => self.whole(stored?)?,
            None => serde_json::from_str(json)?,
        };
        self.memory.observe(&event);
        Ok(event)
    }

    /// The same of an event that was read already. Its texts are not copied.
    pub fn expand_value(&mut self, value: Value) -> Result<Event, ExpandError> {
        let event = if StoredSlim::is_slim(&value) {
            self.whole(StoredSlim::deserialize(value)?)?
        } else {
            Event::deserialize(value)?
        };
        self.memory.observe(&event);
        Ok(event)
    }

    fn whole(&self, stored: StoredSlim<'static>) -> Result<Event, ExpandError> {
        let missing = ExpandError::Missing { seq: stored.seq };
        let known = stored.run_id.as_ref().and_then(|run_id| self.memory.known(run_id));
        let kind = known.and_then(|known| known.expand(&stored.kind)).ok_or(missing)?;
        Ok(stored.with(kind))
    }
}

/// What is left of an event of `run`, if it can do without something.
fn slim_of(run: &Known, event: &AgentEvent) -> Option<Slim> {
    match event {
        AgentEvent::Tool(ToolEvent::Start { call_id, name, args, effect }) => run
            .is_call(call_id, name, args)
            .then_some(Slim::ToolStart { call_id: call_id.clone(), effect: *effect }),
        AgentEvent::Message(MessageEvent::Start { message }) => run.slim_start(message),
        AgentEvent::Message(MessageEvent::End { message }) => {
            run.has_begun(message).then_some(Slim::MessageEnd)
        }
        AgentEvent::Turn(TurnEvent::End { turn_index, message, tool_results, usage }) => run
            .is_turn(message.as_ref(), tool_results)
            .then_some(Slim::TurnEnd { turn_index: *turn_index, usage: *usage }),
        AgentEvent::Run(RunEvent::End { output }) => run.slim_end(output),
        _ => None,
    }
}

impl Known {
    /// The whole of what was left out.
    fn expand(&self, slim: &Slim) -> Option<AgentEvent> {
        match slim {
            Slim::ToolStart { call_id, effect } => self.expand_call(call_id, *effect),
            Slim::ToolResult { message } => self.expand_start(message),
            Slim::MessageEnd => {
                self.open_message().map(|message| AgentEvent::Message(MessageEvent::End { message }))
            }
            Slim::TurnEnd { turn_index, usage } => {
                let (message, tool_results) = self.turn();
                Some(AgentEvent::Turn(TurnEvent::End {
                    turn_index: *turn_index,
                    message,
                    tool_results,
                    usage: *usage,
                }))
            }
            Slim::AgentEnd { output, text } => self.expand_end(output, *text),
        }
    }
}

#[cfg(test)]
mod slim_tests;
