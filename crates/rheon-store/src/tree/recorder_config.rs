//! The configuration of a recorder, and its counters of dropped data.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecorderConfig {
    pub formation_policy: SessionFormationPolicy,
    /// Whether to store deltas, updates and progress. Later events contain the same information.
    pub include_streaming_events: bool,
    /// A loop that starts while this many are open is not recorded.
    pub open_loops_max: usize,
    /// A loop that starts while this many closed loops wait to be drained is not recorded.
    pub closed_loops_max: usize,
    /// The limit of events per loop, and of references to sub-agents.
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

/// Which loops form one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFormationPolicy {
    /// All loops with one session id.
    PerSessionId,
    /// The same, but a loop that starts after a longer silence starts a new session, whose id is the old one and the
    /// start time.
    InactivityTimeout {
        /// The longest silence in seconds.
        secs: u64,
    },
}

/// What a recorder saw but did not store. Events dropped from one loop are also counted in its record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedCounts {
    /// Loops that started when a limit was reached.
    pub loops: u64,
    /// Events beyond a loop's limit, of loops without a record, or of drained loops.
    pub events: u64,
}
