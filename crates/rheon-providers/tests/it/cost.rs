//! A chunk costs no allocation.

use std::alloc::System;

use futures::{FutureExt, StreamExt};
use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use crate::support::{open, user};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Counts allocations of the whole process, so other tests interfere; a stream that allocates would never have a clean
/// run.
#[test]
fn inline_delta_is_not_allocated() {
    const CHUNKS: usize = 10_000;
    let turn = Turn::say("exactly 24 bytes of text".repeat(CHUNKS)).chunked(24).repeat();
    let provider = ScriptedProvider::new(Scenario::new().turn(turn));
    let mut counts = (0..1_000).map(|_| {
        let (mut stream, _cancel) = open(&provider, user("go"));
        assert!(stream.next().now_or_never().flatten().is_some());
        let region = Region::new(ALLOCATOR);
        let deltas = (0..CHUNKS).filter(|_| stream.next().now_or_never().flatten().is_some()).count();
        let allocations = region.change().allocations;
        assert_eq!(deltas, CHUNKS);
        allocations
    });
    assert!(counts.any(|allocations| allocations == 0));
}
