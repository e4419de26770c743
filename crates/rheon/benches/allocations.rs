//! Memory: how often and how much each case allocates, one JSON object per line. The same in every run.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a count"
)]

mod support;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let runtime = support::runtime();
    for case in support::cases() {
        // What is set up on first use belongs to no case.
        drop(runtime.block_on(case.prepare(case.few)));
        for units in [case.few, case.many] {
            let job = case.prepare(units);
            let region = Region::new(ALLOCATOR);
            let left = runtime.block_on(job);
            let change = region.change();
            drop(left);
            // Growing a block in place or by moving it counts like a new one.
            let allocations = change.allocations + change.reallocations;
            let bytes = change.bytes_allocated;
            let line = serde_json::json!({
                "case": case.name, "units": units, "allocations": allocations, "bytes": bytes,
            });
            println!("{line}");
        }
    }
}
