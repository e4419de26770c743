//! `UnknownEvent`: an event added by a newer version, preserved unchanged.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::{Map, Value};

/// The key that names an event.
pub(super) const TYPE: &str = "type";

/// An event added by a newer version.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownEvent {
    name: String,
    fields: Map<String, Value>,
}

impl UnknownEvent {
    pub(super) fn new(name: String, fields: Map<String, Value>) -> Self {
        Self { name, fields }
    }

    /// Its dotted name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All fields besides the name.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }
}

impl Serialize for UnknownEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len() + 1))?;
        map.serialize_entry(TYPE, &self.name)?;
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
impl proptest::arbitrary::Arbitrary for UnknownEvent {
    type Parameters = ();
    type Strategy = proptest::strategy::BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        use proptest::strategy::Strategy as _;
        let fields = proptest::collection::btree_map("[a-s]{1,4}", crate::roundtrip_tests::json(), 0..3);
        ("newer\\.[a-z]{1,6}", fields)
            .prop_map(|(name, fields)| Self { name, fields: fields.into_iter().collect() })
            .boxed()
    }
}
