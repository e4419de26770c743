//! How a recorder forms sessions, how much it keeps, and what it had to leave out.

/// How a recorder works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecorderConfig {
    /// What is one session.
    pub formation_policy: SessionFormationPolicy,
    /// Whether deltas, updates and progress are kept among the events. A later event says all that they say.
    pub include_streaming_events: bool,
    /// How many loops may be open. A loop that begins while so many are is not recorded.
    pub open_loops_max: usize,
    /// How many closed loops wait to be drained at most. A loop that begins while so many do is not recorded.
    pub closed_loops_max: usize,
    /// How many events of a loop are kept at most, and how many references to sub-agents.
    pub loop_events_max: usize,
}

impl Default for SessionRecorderConfig {
    fn default() -> Self {
        Self {
            formation_policy: SessionFormationPolicy::PerSessionId,
            include_streaming_events: false,
            open_loops_max: 1_000,
            closed_loops_max: 20_000,
            loop_events_max: 20_000,
        }
    }
}

/// What is one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFormationPolicy {
    /// All loops with one session id.
    PerSessionId,
    /// The same, but a loop that begins after a longer silence begins a session of its own, whose id is the old one with
    /// the moment of its beginning.
    InactivityTimeout {
        /// How long a silence may last, in seconds.
        secs: u64,
    },
}

/// What a recorder saw and did not keep. Events that one loop left out are counted in its record as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedCounts {
    /// Loops that began when there was no room.
    pub loops: u64,
    /// Events after the most that a loop keeps, of loops without a record, or of loops that were drained.
    pub events: u64,
}
