//! A test agent with a provider over the network.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{Agent, AgentBuilder, RetryConfig};
use rheon_types::{AllowAll, Provider};

use crate::clock::{CountingRandom, TestClock};
use crate::trace::Trace;

/// Starts building an agent that calls `model` of `provider`: allows everything, has fixed ids and retries without
/// delay. The trace records all events.
pub fn live(provider: Arc<dyn Provider>, model: &str) -> (AgentBuilder, Trace) {
    let trace = Trace::new();
    let observer = trace.clone();
    let builder = Agent::builder()
        .shared_provider(provider)
        .model(model)
        .permission_policy(AllowAll)
        .retry(RetryConfig { initial_delay: Duration::ZERO, ..RetryConfig::default() })
        .clock(Arc::new(TestClock::default()))
        .random(Arc::new(CountingRandom::default()))
        .agent_id("agent")
        .session("s")
        .config_id("c")
        .on_event(move |event| observer.observe(event));
    (builder, trace)
}
