//! The cases: what is measured, the same for time, allocations and instructions.
//!
//! Every figure is a difference. A case runs with `few` and with `many` units of the same thing; the cost of one unit is
//! what the additional units cost, divided by their number. What happens once per run or once per process cancels out.

mod agents;
mod bare;
mod fixtures;

use std::any::Any;
use std::future::Future;
use std::pin::Pin;

use agents::Observers;
use fixtures::{asks_forever, repeats_id};

/// Work that is ready to be measured. Its result holds whatever the work leaves behind, so that dropping that is not
/// measured.
pub(crate) type Job = Pin<Box<dyn Future<Output = Box<dyn Any>>>>;

/// One thing that is measured.
pub(crate) struct Case {
    /// Unique, and stable: results are found by it.
    pub(crate) name: String,
    /// The smaller number of units.
    pub(crate) few: u32,
    /// The larger number of units.
    pub(crate) many: u32,
    prepare: Box<dyn Fn(u32) -> Job>,
}

impl Case {
    fn new(name: impl Into<String>, (few, many): (u32, u32), prepare: impl Fn(u32) -> Job + 'static) -> Self {
        Self { name: name.into(), few, many, prepare: Box::new(prepare) }
    }

    /// Builds what a run with so many units needs; not measured.
    pub(crate) fn prepare(&self, units: u32) -> Job {
        (self.prepare)(units)
    }
}

/// Pieces of one streamed answer.
const DELTAS: (u32, u32) = (1, 10_001);
/// Runs, or turns of one run.
const TURNS: (u32, u32) = (1, 101);
/// Tool calls of one turn.
const CALLS: (u32, u32) = (1, 65);
/// Tool turns at the beginning of a run, and later in it.
const TURNS_EARLY: (u32, u32) = (1, 51);
const TURNS_LATE: (u32, u32) = (200, 400);

/// All cases. A case and what it is compared with stand next to each other, so that a change of the machine's load
/// meets both.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("text/hand_loop", TURNS, bare::text_turns),
        Case::new("text/run", TURNS, agents::text_runs),
        Case::new("text/turn", TURNS, agents::text_turns),
        Case::new("delta/provider_alone", DELTAS, bare::provider_alone),
        Case::new("delta/push_and_send", DELTAS, bare::push_and_send),
        Case::new("delta/hand_unwatched", DELTAS, bare::gather),
        Case::new("delta/hand_watched", DELTAS, bare::gather_and_send),
    ];
    for (watch, name) in Observers::ALL {
        for messages in [10, 1_000, 10_000] {
            let name = format!("delta/{name}/{messages}");
            cases.push(Case::new(name, DELTAS, move |deltas| agents::deltas(watch, messages, deltas)));
        }
    }
    cases.extend([
        Case::new("broadcast/bare_8", DELTAS, |deltas| bare::broadcast(8, deltas)),
        Case::new("broadcast/rheon_8", DELTAS, |deltas| agents::deltas(Observers::Broadcast(8), 10, deltas)),
        Case::new("tool/bare_execute", CALLS, bare::execute),
        Case::new("tool/bare_spawn", CALLS, bare::spawn),
        Case::new("tool/call_parallel", CALLS, agents::parallel_calls),
        Case::new("tool/call_sequential", CALLS, agents::sequential_calls),
        Case::new("tool/turn_early", TURNS_EARLY, |turns| agents::tool_turns(asks_forever(), turns)),
        Case::new("tool/turn_late", TURNS_LATE, |turns| agents::tool_turns(asks_forever(), turns)),
        Case::new("tool/turn_same_id", TURNS_LATE, |turns| agents::tool_turns(repeats_id(), turns)),
    ]);
    cases
}

/// The runtime of every case: one thread, so that all work is counted and none of it overlaps.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime of one thread")
}
