//! Types become schemas of answers.

use rheon_tools::arguments_schema;
use rheon_types::OutputSchema;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// How long the name of a schema may be; services refuse longer ones.
const NAME_CHARS_MAX: usize = 64;

/// The JSON Schema of a type, under its name.
pub(crate) fn schema_of<T: JsonSchema + DeserializeOwned>() -> OutputSchema {
    OutputSchema { name: schema_name(&T::schema_name()), schema: arguments_schema::<T>() }
}

/// The name with only what services allow in one.
fn schema_name(name: &str) -> String {
    let allowed = |one: char| if one.is_ascii_alphanumeric() || one == '_' || one == '-' { one } else { '_' };
    let name: String = name.chars().take(NAME_CHARS_MAX).map(allowed).collect();
    if name.is_empty() { "output".to_owned() } else { name }
}
