//! The recorded clock: events have their recorded times, and measurements their recorded durations.

use std::sync::Arc;
use std::time::Duration;

use rheon_types::{
    AgentEvent, Clock, MessageEvent, ModelEvent, Random, RunEvent, Timestamp, ToolEvent, WaitMode,
};

use super::director::Director;

/// Reads times from the script. Measurements start at 0, so their end is the duration.
pub(super) struct RecordedClock(pub(super) Arc<Director>);

impl Clock for RecordedClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn elapsed(&self) -> Duration {
        let place = {
            let mut state = self.0.state();
            if std::mem::take(&mut state.is_start_due) {
                return Duration::ZERO;
            }
            state.next
        };
        let script = &self.0.script;
        let millis = match script.kind(place) {
            Some(
                AgentEvent::Model(ModelEvent::End { duration_ms, .. })
                | AgentEvent::Tool(ToolEvent::End { duration_ms, .. })
                | AgentEvent::Run(RunEvent::Hook { duration_ms, .. }),
            ) => *duration_ms,
            Some(AgentEvent::Message(MessageEvent::Start { message }))
                if message.as_assistant().is_some() =>
            {
                let first = script.kinds_from(place).find_map(|kind| match kind {
                    AgentEvent::Model(ModelEvent::End { first_token_ms, .. }) => *first_token_ms,
                    _ => None,
                });
                first.unwrap_or_default()
            }
            Some(_) | None => 0,
        };
        Duration::from_millis(millis)
    }

    fn wait_mode(&self) -> WaitMode {
        WaitMode::Skip
    }
}

/// Constant numbers: results of randomness are in the log.
pub(super) struct FixedRandom;

impl Random for FixedRandom {
    fn next_u64(&self) -> u64 {
        0
    }
}
