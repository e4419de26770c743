//! A scripted run: a scenario, tools and a prompt in, a trace out.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{Agent, AgentBuilder, AgentError, CheckSettings, Prompt, RetryConfig};
use rheon_providers::scripted::{Scenario, ScriptedProvider};
use rheon_types::{AgentOutput, AllowAll, Message, Provider, Request, Tool};

use crate::clock::{CountingRandom, TestClock};
use crate::trace::Trace;

/// An agent that plays a scenario: allows everything, accepts every answer, and has fixed ids, a test clock and
/// counting random numbers.
pub struct ScriptedAgent {
    builder: AgentBuilder,
    provider: Arc<ScriptedProvider>,
    trace: Trace,
}

/// Creates an agent that plays `scenario`.
pub fn scripted(scenario: Scenario) -> ScriptedAgent {
    let provider = Arc::new(ScriptedProvider::new(scenario));
    let trace = Trace::new();
    let observer = trace.clone();
    let builder = Agent::builder()
        .provider(Arc::clone(&provider) as Arc<dyn rheon_types::Provider>)
        .model("scripted")
        .permission_policy(AllowAll)
        .clock(Arc::new(TestClock::default()))
        .random(Arc::new(CountingRandom::default()))
        .agent_id("agent")
        .session("s")
        .config_id("c")
        .checks(CheckSettings { nudges_max: 0, ..CheckSettings::default() })
        .on_event(move |event| observer.observe(event));
    ScriptedAgent { builder, provider, trace }
}

impl ScriptedAgent {
    /// Changes the agent builder.
    pub fn with(mut self, change: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Adds a tool.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.with(|builder| builder.tool(tool))
    }

    /// Builds the agent, for tests that call it themselves.
    #[allow(clippy::expect_used, reason = "a test with an invalid agent should fail")]
    pub fn build(self) -> (Agent, Trace, Arc<ScriptedProvider>) {
        let agent = self.builder.build().expect("the test agent builds");
        (agent, self.trace, self.provider)
    }

    /// Runs one prompt to the end and checks the order of all events.
    pub async fn run(self, prompt: impl Into<Prompt>) -> ScriptedRun {
        let (agent, trace, provider) = self.build();
        let result = agent.run(prompt).await;
        trace.assert_order();
        ScriptedRun { agent, trace, provider, result }
    }
}

/// The result of a scripted run.
pub struct ScriptedRun {
    /// The agent, ready for more prompts.
    pub agent: Agent,
    /// All events.
    pub trace: Trace,
    /// The provider, with the requests it received.
    pub provider: Arc<ScriptedProvider>,
    /// The result of the run.
    pub result: Result<Arc<AgentOutput>, AgentError>,
}

impl ScriptedRun {
    /// The output of the run, whether it failed or not.
    #[allow(clippy::panic, reason = "a test whose run did not start should fail")]
    pub fn output(&self) -> &AgentOutput {
        match &self.result {
            Ok(output) | Err(AgentError::Failed { output, .. }) => output,
            Err(error) => panic!("the run has no output: {error}"),
        }
    }

    /// The messages of the `n`th request, one line each.
    pub fn sent(&self, n: usize) -> String {
        self.provider.requests().get(n).map(request_text).unwrap_or_default()
    }
}

/// The messages of a request as text, as the model sees them.
pub fn request_text(request: &Request) -> String {
    let line = |message: &Message| match message {
        Message::User(_) => format!("user {:?}", message.text()),
        Message::Assistant(answer) => {
            let calls: Vec<String> =
                answer.tool_calls().map(|call| format!(" [{} {}]", call.name, call.id)).collect();
            format!("assistant {:?}{}", answer.text(), calls.concat())
        }
        Message::ToolResult(result) => {
            let error = if result.is_error { " error" } else { "" };
            format!("toolResult {}{error} {:?}", result.tool_call_id, message.text())
        }
    };
    let lines: Vec<String> = request.messages.for_model().map(line).collect();
    lines.join("\n")
}

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
        .random(Arc::new(CountingRandom::default()))
        .agent_id("agent")
        .session("s")
        .config_id("c")
        .on_event(move |event| observer.observe(event));
    (builder, trace)
}
