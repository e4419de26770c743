//! Memory benchmarks: allocations of requests and deltas, and memory kept by an endless response. One JSON object per
//! line.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a figure"
)]

mod deltas;
mod encode;
mod endless;
#[path = "../support/mod.rs"]
mod support;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocation counts.
#[derive(Clone, Copy)]
struct AllocationCounts {
    /// The number of allocations; growing a block counts as one.
    times: f64,
    /// The total number of bytes.
    bytes: f64,
}

/// Counts the allocations of `work` on all threads.
fn counted<T>(work: impl FnOnce() -> T) -> (T, AllocationCounts) {
    let region = Region::new(ALLOCATOR);
    let made = work();
    let change = region.change();
    let times = (change.allocations + change.reallocations) as f64;
    (made, AllocationCounts { times, bytes: change.bytes_allocated as f64 })
}

fn main() {
    if endless::is_child() {
        return endless::run_child();
    }
    let parts: [(&str, fn()); 3] =
        [("encode", encode::measure), ("deltas", deltas::measure), ("endless", endless::measure)];
    for (name, measure) in parts {
        if support::is_selected(name) {
            measure();
        }
    }
}
