//! `RunSettings`: what a run obeyed that no other event of it shows, so that its log alone suffices to play it again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a run obeyed. Pauses, prices and time limits of tools are not among it: what came of them is in the log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct RunSettings {
    /// The most turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_max: Option<u32>,
    /// The most tokens of all turns together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// The longest the run may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_max_ms: Option<u64>,
    /// How often a failed model call is tried again.
    pub retries_max: u32,
    /// How many tools of one turn start together.
    pub tools_together: u64,
    /// The most tool calls of one turn that are run.
    pub tool_calls_max: u64,
    /// How many hooks it had: without any, nobody changes what a tool gave.
    pub hooks: u64,
    /// How often in a row the model is asked to finish what it left open.
    #[serde(default)]
    pub nudges_max: u32,
    /// How often it is asked again for an answer of the form that was asked for.
    #[serde(default)]
    pub repairs_max: u32,
    /// That form, as a JSON Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
    pub output_schema: Option<Arc<Value>>,
}
