//! Values as JSON, for programs.

use serde::Serialize;

use crate::failure::Failure;

/// `value` as JSON that people can read, too.
pub(crate) fn as_json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(Failure::error)
}
