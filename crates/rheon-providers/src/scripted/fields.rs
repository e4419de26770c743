//! `Fields`: reads a table key by key and tracks the path, so that every error names the key.

use std::fmt;

use rheon_text::did_you_mean;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The path from the root of a document to a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeyPath(pub(super) Vec<Segment>);

/// One segment of a [`KeyPath`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Key(String),
    Index(usize),
}

/// An invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) path: KeyPath,
    /// What is wrong, and how to fix it.
    pub(super) problem: String,
}

/// A table being read.
pub(super) struct Fields {
    path: KeyPath,
    remaining: Map<String, Value>,
}

impl KeyPath {
    pub(super) fn key(&self, key: &str) -> Self {
        self.with(Segment::Key(key.to_owned()))
    }

    pub(super) fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    pub(super) fn fault(&self, problem: impl Into<String>) -> Fault {
        Fault { path: self.clone(), problem: problem.into() }
    }

    fn with(&self, segment: Segment) -> Self {
        Self(self.0.iter().cloned().chain([segment]).collect())
    }
}

/// For instance `turns[0].steps[1].ms`; `scenario` for the root.
impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("scenario");
        }
        for (depth, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if depth == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl Fields {
    /// The table at `path`.
    pub(super) fn of(value: Value, path: KeyPath) -> Result<Self, Fault> {
        match value {
            Value::Object(remaining) => Ok(Self { path, remaining }),
            other => Err(path.fault(format!("must be a table: found {}", kind_of(&other)))),
        }
    }

    /// An error for a key that is not in `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Fault> {
        match self.remaining.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(self.path.key(key).fault(format!("unknown key; {}", did_you_mean(key, known)))),
        }
    }

    pub(super) fn path(&self) -> &KeyPath {
        &self.path
    }

    /// Takes the value of `key`, if present. `what` completes "must be".
    pub(super) fn take<T: DeserializeOwned>(&mut self, key: &str, what: &str) -> Result<Option<T>, Fault> {
        let Some(value) = self.remaining.remove(key) else { return Ok(None) };
        match serde_json::from_value(value) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(self.path.key(key).fault(format!("must be {what}: {error}"))),
        }
    }

    /// Takes the value of `key`, which is required.
    pub(super) fn need<T: DeserializeOwned>(&mut self, key: &str, what: &str) -> Result<T, Fault> {
        self.take(key, what)?.ok_or_else(|| self.path.fault(format!("{key:?} is missing; it must be {what}")))
    }

    /// Takes and reads the table at `key`, if present.
    pub(super) fn table<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Value, KeyPath) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        self.remaining.remove(key).map(|value| read(value, self.path.key(key))).transpose()
    }

    /// Takes the list at `key` and reads its items; a missing list is empty.
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        read: impl Fn(Value, KeyPath) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let path = self.path.key(key);
        match self.remaining.remove(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                items.into_iter().enumerate().map(|(index, item)| read(item, path.index(index))).collect()
            }
            Some(other) => Err(path.fault(format!("must be a list of tables: found {}", kind_of(&other)))),
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}
