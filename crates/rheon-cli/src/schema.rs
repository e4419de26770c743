//! Reads the schema of `--json-schema`.

use std::io::ErrorKind;

use rheon_app::session::schema_problem;
use rheon_types::OutputSchema;
use serde_json::Value;

use crate::failure::Failure;

const SCHEMA_BYTES_MAX: u64 = 1 << 20;

/// Reads a schema from JSON text or a file. An invalid schema is an error here, before anything runs.
pub(crate) fn read(given: &str) -> Result<OutputSchema, Failure> {
    let (text, from) = match is_json(given) {
        true => (given.to_owned(), "--json-schema".to_owned()),
        false => (file(given)?, given.to_owned()),
    };
    let wrong = |problem: &dyn std::fmt::Display| {
        Failure::usage(format_args!("{from} is not a valid JSON schema: {problem}"))
    };
    let schema: Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    if !schema.is_object() {
        return Err(wrong(&r#"it must be an object, for example {"type": "object", "properties": {}}"#));
    }
    match schema_problem(&schema) {
        None => Ok(OutputSchema { name: "answer".into(), schema }),
        Some(problem) => Err(wrong(&problem)),
    }
}

/// Whether this is JSON rather than a file name: anything that parses as JSON, or starts like an object or a list.
fn is_json(given: &str) -> bool {
    given.trim_start().starts_with(['{', '[', '"']) || serde_json::from_str::<Value>(given).is_ok()
}

fn file(name: &str) -> Result<String, Failure> {
    let unreadable = |problem: &dyn std::fmt::Display| {
        Failure::usage(format_args!("cannot read the schema {name}: {problem}"))
    };
    let size = match std::fs::metadata(name) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(unreadable(&"no such file; pass a file or the schema itself: {...}"));
        }
        Err(error) => return Err(unreadable(&error)),
    };
    if size > SCHEMA_BYTES_MAX {
        return Err(unreadable(&"larger than 1 MiB"));
    }
    std::fs::read_to_string(name).map_err(|error| unreadable(&error))
}
