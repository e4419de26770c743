//! The same work on Rheon and on other agent libraries, in one process: a table of times and ratios.
//!
//! Every system runs behind its own public interface with a model service written by hand for it, which answers at once,
//! and with one task that reads all events. All share one thread. Rounds alternate between the systems, so that a change
//! of the machine's load meets all of them.

#![allow(clippy::expect_used, reason = "a comparison that does not do its work must stop, not report a time")]

#[cfg(feature = "cersei")]
mod cersei;
mod phi;
mod rheon_agent;
mod table;
mod work;

use std::time::{Duration, Instant};

use work::{System, WORK, Work};

/// How often each work is done by each system.
const ROUNDS: usize = 25;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let systems = systems();
    let mut lines = Vec::new();
    for work in WORK {
        eprintln!("{}", work.title);
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); systems.len()];
        for round in 0..=ROUNDS {
            for (system, times) in systems.iter().zip(&mut times) {
                let elapsed = measure(&runtime, system.as_ref(), work);
                // The first round only warms up.
                if round > 0 {
                    times.push(elapsed);
                }
            }
        }
        lines.push((work, times));
    }
    let names: Vec<&str> = systems.iter().map(|system| system.name()).collect();
    print!("{}", table::render(&names, &lines));
}

fn systems() -> Vec<Box<dyn System>> {
    vec![
        Box::new(rheon_agent::Rheon),
        Box::new(phi::Phi),
        #[cfg(feature = "cersei")]
        Box::new(cersei::Cersei),
    ]
}

/// The time of one unit of the work.
fn measure(runtime: &tokio::runtime::Runtime, system: &dyn System, work: &Work) -> Duration {
    let job = system.prepare(work.job);
    let start = Instant::now();
    let left = runtime.block_on(job);
    let elapsed = start.elapsed();
    drop(left);
    elapsed / work.units
}
