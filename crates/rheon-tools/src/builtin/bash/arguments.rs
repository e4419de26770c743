//! What the model gives to the three tools.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

/// A command line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) command: String,
    /// 120000 unless given.
    #[schemars(range(min = 1, max = 600_000))]
    pub(super) timeout_ms: Option<u64>,
    /// Return an id at once.
    pub(super) background: Option<bool>,
    /// What it does, for the user.
    #[expect(dead_code, reason = "it is shown by user interfaces, which read it in the call")]
    pub(super) description: Option<String>,
}

/// A background command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    pub(super) id: String,
}

const TIMEOUT_MS: u64 = 120_000;
const TIMEOUT_MS_MAX: u64 = 600_000;

impl Run {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.unwrap_or(TIMEOUT_MS).clamp(1, TIMEOUT_MS_MAX))
    }
}
