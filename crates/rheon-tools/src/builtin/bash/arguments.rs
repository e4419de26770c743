//! What the model gives to the three tools.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

/// A command line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    /// The command line, in bash; any number of lines.
    pub(super) command: String,
    /// The longest it may run, in milliseconds: 120000 unless given, 600000 at most. Not for the background.
    #[schemars(range(min = 1, max = 600_000))]
    pub(super) timeout_ms: Option<u64>,
    /// Whether it runs in the background; then an id is returned at once.
    pub(super) background: Option<bool>,
    /// What it does, in five to ten words, for the user.
    #[expect(dead_code, reason = "it is shown by user interfaces, which read it in the call")]
    pub(super) description: Option<String>,
}

/// A background command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    /// What `bash` returned for it.
    pub(super) id: String,
}

const TIMEOUT_MS: u64 = 120_000;
const TIMEOUT_MS_MAX: u64 = 600_000;

impl Run {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.unwrap_or(TIMEOUT_MS).clamp(1, TIMEOUT_MS_MAX))
    }
}
