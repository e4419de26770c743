//! Replay: runs the real loop from a log alone and checks that it produces the same durable events, byte for byte.
//!
//! Everything the loop learned from outside comes from the log: model answers, tool results, gate verdicts, approvals,
//! hook verdicts, filter rejections, user messages, prompt sizes, compaction cuts, budget decisions, time, durations,
//! prices and ids. Nothing is called, nothing waits, nothing is written. Every event is compared with the recorded one;
//! the first difference ends the replay.
//!
//! Some events are copied because the loop did not produce them: session facts reported by tools and programs (tasks,
//! modes, checkpoints, errors, sub-agents), the tools offered by sources (the log has their names but not their
//! schemas), and the events with which a store closed a run after a crash; such a run is replayed up to the crash. Runs
//! without settings, which were imported, and old runs without window settings are copied completely. Logs with
//! concurrent runs are not supported.

mod budget;
mod decisions;
mod difference;
mod director;
mod error;
mod model;
mod parts;
mod play;
mod script;
mod time;
mod tools;
mod window;

use rheon_types::Event;
use tokio::runtime;

pub use difference::ReplayDifference;
pub use error::ReplayError;

use crate::context::LoggedConversation;
use parts::{LogPart, parts};

/// How far to replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplayUntil {
    /// To the end of the log.
    #[default]
    End,
    /// Up to and including the event with this number.
    Seq(u64),
}

/// The result of a successful replay.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOutcome {
    /// The events, equal to the recorded ones.
    pub events: Vec<Event>,
    /// The number of runs.
    pub runs: usize,
    /// The number of events that were copied from the log.
    pub taken: usize,
}

/// Replays a log from its beginning. Live events are skipped.
///
/// Blocks until it is done. Runs on a separate thread, independent of the caller's runtime and clock.
pub fn replay(
    recorded: impl IntoIterator<Item = Event>,
    until: ReplayUntil,
) -> Result<ReplayOutcome, ReplayError> {
    let parts = parts(recorded)?;
    let broken = |problem: &dyn std::fmt::Display| ReplayError::Broken(problem.to_string());
    let replaying = move || {
        // One thread and only a timer: tasks run in the order in which they became ready.
        let runtime = runtime::Builder::new_current_thread().enable_time().build();
        runtime.map_err(|error| ReplayError::Broken(error.to_string()))?.block_on(play_all(parts, until))
    };
    let thread = std::thread::Builder::new().name("rheon-replay".into()).spawn(replaying);
    let played = thread.map_err(|error| broken(&error))?.join();
    played.unwrap_or_else(|panic| Err(broken(&crate::panics::panic_text(&*panic))))
}

async fn play_all(parts: Vec<LogPart>, until: ReplayUntil) -> Result<ReplayOutcome, ReplayError> {
    let last = match until {
        ReplayUntil::End => u64::MAX,
        ReplayUntil::Seq(seq) => seq,
    };
    let mut replayed = ReplayOutcome { events: Vec::new(), runs: 0, taken: 0 };
    let mut logged = LoggedConversation::default();
    for part in parts.into_iter().take_while(|part| part.first_seq() <= last) {
        let events = match part {
            LogPart::Event(event) => {
                replayed.taken += 1;
                vec![*event]
            }
            LogPart::Run(recorded) => {
                // A log may start anywhere, but has no gaps.
                let before = recorded.first_seq().saturating_sub(1);
                let after = replayed.events.last().map_or(before, |event| event.seq);
                let played = play::play(recorded, &logged, play::Stretch { after, last }).await?;
                replayed.runs += 1;
                replayed.taken += played.taken;
                played.events
            }
        };
        events.iter().for_each(|event| logged.apply(&event.kind));
        replayed.events.extend(events);
    }
    Ok(replayed)
}

#[cfg(test)]
mod parts_tests;
