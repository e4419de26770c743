//! Events as JSON: one object whose `type` selects the group that reads it. Unknown events are preserved.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::unknown::TYPE;
use super::{
    AgentEvent, ApprovalEvent, BudgetEvent, ChildEvent, ContextEvent, MessageEvent, ModelEvent, PlanEvent,
    RunEvent, SessionEvent, ToolEvent, TurnEvent, UnknownEvent,
};

impl Serialize for AgentEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Run(event) => event.serialize(serializer),
            Self::Turn(event) => event.serialize(serializer),
            Self::Model(event) => event.serialize(serializer),
            Self::Message(event) => event.serialize(serializer),
            Self::Tool(event) => event.serialize(serializer),
            Self::Approval(event) => event.serialize(serializer),
            Self::Plan(event) => event.serialize(serializer),
            Self::Child(event) => event.serialize(serializer),
            Self::Context(event) => event.serialize(serializer),
            Self::Budget(event) => event.serialize(serializer),
            Self::Session(event) => event.serialize(serializer),
            Self::Unknown(event) => event.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AgentEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = AgentEvent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event: an object with a \"type\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AgentEvent, A::Error> {
        match map.next_key::<String>()? {
            None => Err(A::Error::missing_field(TYPE)),
            // Rheon writes the type first, so the rest is read once.
            Some(key) if key == TYPE => {
                let name: String = map.next_value()?;
                read(name, map)
            }
            Some(key) => {
                let mut fields = Map::new();
                fields.insert(key, map.next_value()?);
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    fields.insert(key, value);
                }
                let Some(Value::String(name)) = fields.remove(TYPE) else {
                    return Err(A::Error::missing_field(TYPE));
                };
                let rest = serde::de::value::MapDeserializer::new(fields.into_iter());
                read(name, rest).map_err(|error: serde_json::Error| A::Error::custom(error))
            }
        }
    }
}

/// The group of an event name.
#[derive(Clone, Copy)]
enum Group {
    Run,
    Turn,
    Model,
    Message,
    Tool,
    Approval,
    Plan,
    Child,
    Context,
    Budget,
    Session,
}

fn group_of(name: &str) -> Option<Group> {
    const GROUPS: [(Group, &[&str]); 11] = [
        (Group::Message, MessageEvent::NAMES),
        (Group::Tool, ToolEvent::NAMES),
        (Group::Model, ModelEvent::NAMES),
        (Group::Turn, TurnEvent::NAMES),
        (Group::Run, RunEvent::NAMES),
        (Group::Context, ContextEvent::NAMES),
        (Group::Approval, ApprovalEvent::NAMES),
        (Group::Session, SessionEvent::NAMES),
        (Group::Plan, PlanEvent::NAMES),
        (Group::Child, ChildEvent::NAMES),
        (Group::Budget, BudgetEvent::NAMES),
    ];
    GROUPS.iter().find(|(_, names)| names.contains(&name)).map(|(group, _)| *group)
}

/// Reads the event `name` from the fields that follow its name.
fn read<'de, A: MapAccess<'de>>(name: String, rest: A) -> Result<AgentEvent, A::Error> {
    let Some(group) = group_of(&name) else {
        let fields = Map::deserialize(MapAccessDeserializer::new(rest))?;
        return Ok(AgentEvent::Unknown(UnknownEvent::new(name, fields)));
    };
    let whole = MapAccessDeserializer::new(Tagged { name: Some(name), rest });
    Ok(match group {
        Group::Run => AgentEvent::Run(RunEvent::deserialize(whole)?),
        Group::Turn => AgentEvent::Turn(TurnEvent::deserialize(whole)?),
        Group::Model => AgentEvent::Model(ModelEvent::deserialize(whole)?),
        Group::Message => AgentEvent::Message(MessageEvent::deserialize(whole)?),
        Group::Tool => AgentEvent::Tool(ToolEvent::deserialize(whole)?),
        Group::Approval => AgentEvent::Approval(ApprovalEvent::deserialize(whole)?),
        Group::Plan => AgentEvent::Plan(PlanEvent::deserialize(whole)?),
        Group::Child => AgentEvent::Child(ChildEvent::deserialize(whole)?),
        Group::Context => AgentEvent::Context(ContextEvent::deserialize(whole)?),
        Group::Budget => AgentEvent::Budget(BudgetEvent::deserialize(whole)?),
        Group::Session => AgentEvent::Session(SessionEvent::deserialize(whole)?),
    })
}

/// The fields of an event with its name in front again.
struct Tagged<A> {
    name: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Tagged<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.name {
            Some(_) => seed.deserialize(TYPE.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.name.take() {
            Some(name) => seed.deserialize(name.into_deserializer()),
            None => self.rest.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
