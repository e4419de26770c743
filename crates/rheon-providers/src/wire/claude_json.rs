//! JSON objects of a request that have to be objects, whatever the history or a tool says.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The arguments of a call: an object, whatever the history says.
pub(super) struct Input<'a>(pub(super) &'a Value);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => fields.serialize(serializer),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new().serialize(serializer)
            }
        }
    }
}

/// A schema of arguments. The service wants an object that says that it is one.
pub(super) struct InputSchema<'a>(pub(super) &'a Value);

impl Serialize for InputSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) if fields.contains_key("type") => fields.serialize(serializer),
            Value::Object(fields) => {
                let kind = Value::from("object");
                let named = fields.iter().map(|(name, value)| (name.as_str(), value));
                serializer.collect_map(std::iter::once(("type", &kind)).chain(named))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                serializer.collect_map([("type", "object")])
            }
        }
    }
}
