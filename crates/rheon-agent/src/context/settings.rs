//! Settings for the context window and for answer checks.

/// When the context window is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSettings {
    /// The window size in tokens; by default, what the provider reports for the model.
    pub tokens_max: Option<u64>,
    /// The fill level, in percent, at which the run warns.
    pub warn_percent: u8,
    /// The fill level, in percent, at which the run compacts before a call.
    pub compact_percent: u8,
    /// Whether to compact automatically.
    pub compaction: Compaction,
}

/// Whether to compact automatically.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compaction {
    /// Compact when the window is nearly full, and when a service rejects a prompt as too long.
    #[default]
    Auto,
    /// Compact only on request.
    Manual,
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self { tokens_max: None, warn_percent: 75, compact_percent: 90, compaction: Compaction::Auto }
    }
}

/// The checks an answer must pass before the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckSettings {
    /// How often in a row the model is asked to finish incomplete work; 0 disables the check.
    pub nudges_max: u32,
    /// How often the model is asked to correct an answer that does not match the output schema.
    pub repairs_max: u32,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self { nudges_max: 2, repairs_max: 2 }
    }
}
