//! Replay: the real loop runs again from a log alone, and the same durable events come out, byte for byte.
//!
//! What the loop once learned through its seams comes from the log: answers of the model, results of tools, verdicts of the
//! gate, answers to questions, opinions of hooks, refusals of filters, what the user said in between, how long a prompt is,
//! the cuts of a compaction, what a budget set aside or refused, time, durations, prices and ids. Nothing is called, nothing
//! is waited for, nothing is written. Every event that the loop makes is held against the recorded one; the first that
//! differs ends the replay.
//!
//! Taken as they were recorded, because no loop made them: what tools and programs report about the session (tasks, modes,
//! checkpoints, errors, sub-agents), which tools the sources of an agent offered (the log has their names and not their
//! schemas), and the events by which a store closed a run that a crash had cut off; such a run is
//! replayed up to the cut. Taken as they were, from beginning to end: runs without settings, which were brought from
//! elsewhere, and runs of before the log said how full a window might be, if it was measured in them. Runs that were under
//! way at the same time in one log are refused.

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
    /// To the event of this number, which is the last.
    Seq(u64),
}

/// What came of a replay that never left its log.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOutcome {
    /// The events, equal to the recorded ones.
    pub events: Vec<Event>,
    /// How many runs there were.
    pub runs: usize,
    /// How many of the events were taken as they were recorded.
    pub taken: usize,
}

/// Replays a log from its beginning. Live events are passed over.
///
/// Blocks until it is done, on a thread of its own: neither the caller's runtime nor its clock has a part in it.
pub fn replay(
    recorded: impl IntoIterator<Item = Event>,
    until: ReplayUntil,
) -> Result<ReplayOutcome, ReplayError> {
    let parts = parts(recorded)?;
    let broken = |problem: &dyn std::fmt::Display| ReplayError::Broken(problem.to_string());
    let replaying = move || {
        // One thread and no driver but the timer: what is ready runs in the order in which it became so.
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
    let mut told = LoggedConversation::default();
    for part in parts.into_iter().take_while(|part| part.first_seq() <= last) {
        let events = match part {
            LogPart::Event(event) => {
                replayed.taken += 1;
                vec![*event]
            }
            LogPart::Run(recorded) => {
                // A log may begin anywhere, but then it has no gaps.
                let before = recorded.first_seq().saturating_sub(1);
                let after = replayed.events.last().map_or(before, |event| event.seq);
                let played = play::play(recorded, &told, play::Stretch { after, last }).await?;
                replayed.runs += 1;
                replayed.taken += played.taken;
                played.events
            }
        };
        events.iter().for_each(|event| told.apply(&event.kind));
        replayed.events.extend(events);
    }
    Ok(replayed)
}

#[cfg(test)]
mod parts_tests;
