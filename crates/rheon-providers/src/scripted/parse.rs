//! Parses scenarios from TOML, JSON, or a file of either.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;

use super::decode;
use super::error::{SCENARIO_BYTES_MAX, ScenarioError};
use super::fields::{Fault, KeyPath};
use super::locate::{json_offset, locate_json, locate_toml, position_at};
use super::scenario::Scenario;

impl Scenario {
    /// Parses a scenario from TOML; see the [module documentation](super) for the format.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        check_size(text.len())?;
        let document: toml::Table = toml::from_str(text).map_err(|error| ScenarioError::Syntax {
            position: position_at(text, error.span().map_or(0, |span| span.start)),
            format: "TOML",
            problem: error.message().to_owned(),
        })?;
        decode::scenario(toml_value(toml::Value::Table(document)))
            .map_err(|fault| invalid(text, fault, locate_toml))
    }

    /// Parses a scenario from JSON, in the same format.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        check_size(text.len())?;
        let document: Value = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = error.to_string();
            let suffix = format!(" at line {line} column {column}");
            ScenarioError::Syntax {
                position: position_at(text, json_offset(text, line, column)),
                format: "JSON",
                problem: message.strip_suffix(&suffix).unwrap_or(&message).to_owned(),
            }
        })?;
        decode::scenario(document).map_err(|fault| invalid(text, fault, locate_json))
    }

    /// Reads a scenario from a `.toml` or `.json` file.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, ScenarioError> {
        let path = path.as_ref();
        let parse = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::from_toml,
            Some("json") => Self::from_json,
            Some(_) | None => return Err(ScenarioError::Format { path: path.to_owned() }),
        };
        let unreadable = |source| ScenarioError::Read { path: path.to_owned(), source };
        let bytes = read(path).map_err(unreadable)?;
        check_size(bytes.len()).map_err(|error| error.in_file(path))?;
        let text = String::from_utf8(bytes).map_err(|error| unreadable(io::Error::other(error)))?;
        parse(&text).map_err(|error| error.in_file(path))
    }
}

/// Reads just enough to detect that a file is too large.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(SCENARIO_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check_size(bytes: usize) -> Result<(), ScenarioError> {
    if bytes > SCENARIO_BYTES_MAX { Err(ScenarioError::TooLarge { path: None }) } else { Ok(()) }
}

fn invalid(text: &str, fault: Fault, locate: fn(&str, &KeyPath) -> Option<usize>) -> ScenarioError {
    ScenarioError::Invalid {
        position: position_at(text, locate(text, &fault.path).unwrap_or_default()),
        key: fault.path.to_string(),
        problem: fault.problem,
    }
}

/// Converts TOML to JSON. Dates become strings; infinite numbers become null.
fn toml_value(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(toml_value).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, toml_value(value))).collect(),
    }
}
