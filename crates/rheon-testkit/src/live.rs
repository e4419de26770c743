//! An agent of a test that asks a provider over the network.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{Agent, AgentBuilder, RetryConfig};
use rheon_types::{AllowAll, Provider};

use crate::clock::{Dice, TestClock};
use crate::trace::Trace;

/// Begins an agent that asks `model` of `provider`: everything allowed, fixed ids, no pause before another try. The trace
/// sees all that happens.
pub fn live(provider: Arc<dyn Provider>, model: &str) -> (AgentBuilder, Trace) {
    let trace = Trace::new();
    let observer = trace.clone();
    let builder = Agent::builder()
        .provider(provider)
        .model(model)
        .permission_policy(AllowAll)
        .retry(RetryConfig { initial_delay: Duration::ZERO, ..RetryConfig::default() })
        .clock(Arc::new(TestClock::default()))
        .random(Arc::new(Dice::default()))
        .agent_id("agent")
        .session("s")
        .config_id("c")
        .on_event(move |event| observer.observe(event));
    (builder, trace)
}
