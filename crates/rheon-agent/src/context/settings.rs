//! The plain values that shape what the model sees.

/// How full the model's window may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSettings {
    /// How many tokens the window has; what the provider says of the model if absent.
    pub tokens_max: Option<u64>,
    /// From how full on, in percent, the run warns.
    pub warn_percent: u8,
    /// From how full on, in percent, the window is made shorter before a call.
    pub compact_percent: u8,
    /// Whether it is made shorter without being asked to.
    pub compaction: Compaction,
}

/// Whether the window is made shorter without being asked to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compaction {
    /// When it is nearly full, and when a service says that it is too long.
    #[default]
    Auto,
    /// Only when somebody asks.
    Manual,
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self { tokens_max: None, warn_percent: 75, compact_percent: 90, compaction: Compaction::Auto }
    }
}

/// What an answer has to be before the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckSettings {
    /// How often in a row the model is asked to finish what it left open; with 0 nobody looks.
    pub nudges_max: u32,
    /// How often it is asked again for an answer that has the form that was asked for.
    pub repairs_max: u32,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self { nudges_max: 2, repairs_max: 2 }
    }
}
