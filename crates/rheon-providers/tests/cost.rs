//! A chunk costs no allocation. The allocator counts for the whole process, so this program has one thread and no other
//! test.

use std::alloc::System;
use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon_types::{AgentMessage, History, Provider, Request, Timestamp};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio_util::sync::CancellationToken;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CHUNKS: usize = 10_000;

fn main() {
    let turn = Turn::say("exactly 24 bytes of text".repeat(CHUNKS)).chunked(24);
    let provider = ScriptedProvider::new(Scenario::new().turn(turn));
    let prompt = Arc::new(AgentMessage::user("go", Timestamp::from_millis(0)));
    let request = Request { messages: [prompt].into_iter().collect::<History>(), ..Request::new("asked") };
    let mut stream = provider.stream(request, CancellationToken::new());
    assert!(stream.next().now_or_never().flatten().is_some(), "no beginning");

    let region = Region::new(ALLOCATOR);
    let deltas = (0..CHUNKS).filter(|_| stream.next().now_or_never().flatten().is_some()).count();
    let allocations = region.change().allocations;

    assert_eq!(deltas, CHUNKS);
    assert_eq!(allocations, 0, "{CHUNKS} inline deltas");
}
