//! The form that answers must have, as it is given with `--json-schema`.

use std::io::ErrorKind;

use rheon_app::session::schema_problem;
use rheon_types::OutputSchema;
use serde_json::Value;

use crate::failure::Failure;

/// The largest file with a schema.
const SCHEMA_BYTES_MAX: u64 = 1 << 20;

/// The schema in `given`: JSON as it stands, or the name of a file with it. What is no schema is told here, before anything runs.
pub(crate) fn read(given: &str) -> Result<OutputSchema, Failure> {
    let (text, from) = match is_json(given) {
        true => (given.to_owned(), "--json-schema".to_owned()),
        false => (file(given)?, given.to_owned()),
    };
    let wrong =
        |problem: &dyn std::fmt::Display| Failure::usage(format_args!("{from} is no JSON schema: {problem}"));
    let schema: Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    if !schema.is_object() {
        return Err(wrong(&r#"it must be an object, for instance {"type": "object", "properties": {}}"#));
    }
    match schema_problem(&schema) {
        None => Ok(OutputSchema { name: "answer".into(), schema }),
        Some(problem) => Err(wrong(&problem)),
    }
}

/// Whether this is meant as JSON and not as the name of a file: all that is JSON, and what begins as an object or a list does.
fn is_json(given: &str) -> bool {
    given.trim_start().starts_with(['{', '[', '"']) || serde_json::from_str::<Value>(given).is_ok()
}

fn file(name: &str) -> Result<String, Failure> {
    let unreadable = |problem: &dyn std::fmt::Display| {
        Failure::usage(format_args!("cannot read the schema in {name}: {problem}"))
    };
    let size = match std::fs::metadata(name) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(unreadable(&"there is no such file; name one, or write the schema itself: {...}"));
        }
        Err(error) => return Err(unreadable(&error)),
    };
    if size > SCHEMA_BYTES_MAX {
        return Err(unreadable(&"it has more than 1 MiB"));
    }
    std::fs::read_to_string(name).map_err(|error| unreadable(&error))
}
