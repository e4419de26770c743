//! `KeyOrder`: the order in which a model wrote the keys of JSON objects, and `OrderedJson`, which writes them so again.

use std::cell::Cell;
use std::fmt;
use std::io;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// The most keys whose order is kept. Beyond that, keys are sorted.
const KEYS_MAX: usize = 4_096;

/// The order in which a model wrote the keys of its arguments. A [`Value`] sorts them; but servers that cache prompts by
/// their text, as local ones do, find an answer again only as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyOrder {
    /// The keys of each object, an outer object before those in it.
    objects: Vec<Vec<String>>,
}

impl KeyOrder {
    /// The order in a JSON text. `None` if the keys are sorted, occur twice or are too many.
    pub fn of(json: &str) -> Option<Self> {
        let mut reading = KeyReader::default();
        let mut deserializer = serde_json::Deserializer::from_str(json);
        Keys(&mut reading).deserialize(&mut deserializer).ok()?;
        let is_sorted = |keys: &Vec<String>| keys.is_sorted_by(|one, next| one < next);
        let is_kept = !reading.is_over && !reading.objects.iter().all(is_sorted);
        is_kept.then_some(Self { objects: reading.objects })
    }
}

/// A value that is written with its keys in a given order, or else sorted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderedJson<'a> {
    /// What is written.
    pub value: &'a Value,
    /// The order of its keys. Where it does not fit the value, they are sorted.
    pub order: Option<&'a KeyOrder>,
}

impl fmt::Display for OrderedJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.order {
            None => self.value.fmt(f),
            Some(_) => serde_json::to_writer(TextWriter(f), self).map_err(|_| fmt::Error),
        }
    }
}

/// Passes on what is text, which JSON always is.
struct TextWriter<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl io::Write for TextWriter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        self.0.write_str(text).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Serialize for OrderedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(KeyOrder { objects }) = self.order else { return self.value.serialize(serializer) };
        Ordered { value: self.value, rest: &Cell::new(objects) }.serialize(serializer)
    }
}

/// A value inside, with the orders of the objects that are still to come.
struct Ordered<'a> {
    value: &'a Value,
    rest: &'a Cell<&'a [Vec<String>]>,
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rest = self.rest;
        match self.value {
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for value in items {
                    seq.serialize_element(&Ordered { value, rest })?;
                }
                seq.end()
            }
            Value::Object(fields) => {
                let (keys, later) = match rest.get().split_first() {
                    Some((keys, later)) => (keys.as_slice(), later),
                    None => (&[][..], &[][..]),
                };
                let fits = keys.len() == fields.len() && keys.iter().all(|key| fields.contains_key(key));
                // Where one object differs, so may all that follow.
                rest.set(if fits { later } else { &[] });
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                if fits {
                    for (key, value) in keys.iter().filter_map(|key| Some((key, fields.get(key)?))) {
                        map.serialize_entry(key, &Ordered { value, rest })?;
                    }
                } else {
                    for (key, value) in fields {
                        map.serialize_entry(key, value)?;
                    }
                }
                map.end()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.value.serialize(serializer)
            }
        }
    }
}

/// Collects the keys of a text.
#[derive(Default)]
struct KeyReader {
    objects: Vec<Vec<String>>,
    keys: usize,
    /// There are too many, or one occurs twice.
    is_over: bool,
}

struct Keys<'a>(&'a mut KeyReader);

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Keys(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let place = self.0.objects.len();
        self.0.objects.push(Vec::new());
        while let Some(key) = map.next_key::<String>()? {
            self.0.keys += 1;
            if let Some(keys) = self.0.objects.get_mut(place) {
                self.0.is_over |= self.0.keys > KEYS_MAX || keys.contains(&key);
                if !self.0.is_over {
                    keys.push(key);
                }
            }
            map.next_value_seed(Keys(&mut *self.0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "key_order_tests.rs"]
mod tests;
