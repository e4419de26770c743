//! The form that answers must have, as it is given with `--json-schema`.

use rheon_types::OutputSchema;
use serde_json::Value;

use crate::failure::Failure;

/// The largest file with a schema.
const SCHEMA_BYTES_MAX: u64 = 1 << 20;

/// The schema in `given`: JSON as it stands, or the name of a file with it.
pub(crate) fn read(given: &str) -> Result<OutputSchema, Failure> {
    let (text, from) = if given.trim_start().starts_with('{') {
        (given.to_owned(), "--json-schema".to_owned())
    } else {
        (file(given)?, given.to_owned())
    };
    let schema: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format_args!("{from} is no JSON schema: {error}")))?;
    if !schema.is_object() {
        return Err(Failure::usage(format_args!("{from} is no JSON schema: an object is needed")));
    }
    Ok(OutputSchema { name: "answer".into(), schema })
}

fn file(name: &str) -> Result<String, Failure> {
    let unreadable = |problem: &dyn std::fmt::Display| {
        Failure::usage(format_args!("cannot read the schema in {name}: {problem}"))
    };
    let size = std::fs::metadata(name).map_err(|error| unreadable(&error))?.len();
    if size > SCHEMA_BYTES_MAX {
        return Err(unreadable(&"it has more than 1 MiB"));
    }
    std::fs::read_to_string(name).map_err(|error| unreadable(&error))
}
