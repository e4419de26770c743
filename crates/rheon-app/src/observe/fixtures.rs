//! A scripted run and its notices, for the tests of this directory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rheon_testkit::{Scenario, ScriptedAgent, Turn, echo, fails, scripted};
use rheon_types::{Clock, Event, ProviderError, ProviderErrorKind, Timestamp, Usage};
use serde_json::json;

use rheon_types::event::Notice;

use crate::system::NoticeSink;

/// A key that a service repeats in its error. It has no known shape, so only its value can be matched.
pub(super) const CANARY: &str = "canary.Zx81-quite-secret";
/// A key of a well-known shape that is not configured.
pub(super) const SHAPED: &str = "ghp_0q1w2e3r4t5z6u7i8o9p0a1s2d3f4g5h6j7k";
/// What the user says, and what a tool finds.
pub(super) const SAID: &str = "the prompt that is never logged";

/// A run with a call that is tried again, a tool that works and one that fails.
pub(super) fn run() -> ScriptedAgent {
    let refusal = format!("too many requests of {CANARY} and {SHAPED}\u{1b}[2J");
    let usage = Usage { input: 100, output: 20, cache_read: 900, cache_write: 5, total_tokens: 0 };
    let calls =
        Turn::new().tool_call("echo", json!({ "text": SAID })).tool_call("fails", json!({})).usage(usage);
    let scenario = Scenario::new()
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::RateLimited, refusal)))
        .turn(calls)
        .turn(Turn::say("It is done.").usage(usage));
    scripted(scenario).tool(echo()).tool(fails())
}

/// The events of that run, the same every time.
pub(super) fn events() -> Vec<Event> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.unwrap().block_on(async { run().run(SAID).await.trace.events() })
}

/// A notice sink, and the notices it received.
pub(super) fn told() -> (NoticeSink, Arc<Mutex<Vec<String>>>) {
    let told = Arc::<Mutex<Vec<String>>>::default();
    let heard = Arc::clone(&told);
    (Arc::new(move |notice: Notice| heard.lock().unwrap().push(notice.message)), told)
}

/// A stopped clock.
pub(super) struct StoppedClock(pub(super) u64);

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}
