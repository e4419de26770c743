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
    /// How full the model's window might be; absent in logs of before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<RunWindow>,
}

/// How full the model's window might be in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct RunWindow {
    /// How many tokens the window had; absent where nothing was known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// How many tokens the window was thought to have when the run began, where a service had shown that it has fewer than
    /// was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_learnt: Option<u64>,
    /// How many tokens one answer might have, where that was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_tokens_max: Option<u32>,
    /// From how full on, in percent, the run warned.
    #[serde(default)]
    pub warn_percent: u8,
    /// From how full on, in percent, the window was made shorter before a call.
    #[serde(default)]
    pub compact_percent: u8,
    /// Whether it was made shorter without anybody asking for it.
    #[serde(default)]
    pub is_automatic: bool,
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
