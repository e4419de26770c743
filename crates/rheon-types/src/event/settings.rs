//! `RunSettings`: the settings of a run that no other event shows, so that the log alone is enough to replay it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The settings of a run. Pauses, prices and tool timeouts are not included: their effects are in the log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct RunSettings {
    /// The maximum number of turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_max: Option<u32>,
    /// The maximum number of tokens over all turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// What a token read from the cache counts, in percent; absent in older logs, which count it in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_percent: Option<u8>,
    /// The time limit of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_max_ms: Option<u64>,
    /// The maximum number of retries of a failed model call.
    pub retries_max: u32,
    /// How many tools of one turn run in parallel.
    pub tools_together: u64,
    /// The maximum number of tool calls run in one turn.
    pub tool_calls_max: u64,
    /// The number of hooks. Without hooks, tool results are unchanged.
    pub hooks: u64,
    /// How often in a row the model is asked to finish incomplete work.
    #[serde(default)]
    pub nudges_max: u32,
    /// How often the model is asked to correct an answer that does not match the output schema.
    #[serde(default)]
    pub repairs_max: u32,
    /// The output schema, as a JSON Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
    pub output_schema: Option<Arc<Value>>,
    /// The context window settings; absent in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<RunWindow>,
}

/// The context window settings of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct RunWindow {
    /// The window size in tokens; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// The window size learned from earlier refusals of the service, if it is smaller than documented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_learnt: Option<u64>,
    /// The maximum number of answer tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_tokens_max: Option<u32>,
    /// The fill level, in percent, at which the run warns.
    #[serde(default)]
    pub warn_percent: u8,
    /// The fill level, in percent, at which the run compacts before a call.
    #[serde(default)]
    pub compact_percent: u8,
    /// Whether the run compacts automatically.
    #[serde(default)]
    pub is_automatic: bool,
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
