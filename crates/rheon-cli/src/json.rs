//! JSON output.

use serde::Serialize;

use crate::failure::Failure;

/// Pretty-printed JSON.
pub(crate) fn as_json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(Failure::error)
}
