//! A scripted run: a scenario, tools, a prompt; then all that happened.

use std::sync::Arc;

use rheon_agent::{Agent, AgentBuilder, AgentError, CheckSettings, Prompt};
use rheon_providers::scripted::{Scenario, ScriptedProvider};
use rheon_types::{AgentOutput, AllowAll, Message, Request, Tool};

use crate::clock::{Dice, TestClock};
use crate::trace::Trace;

/// An agent about to play a scenario: everything allowed, every answer taken as it is, fixed ids, a clock and dice that are
/// the same in every run.
pub struct Scripted {
    builder: AgentBuilder,
    provider: Arc<ScriptedProvider>,
    trace: Trace,
}

/// Begins a scripted run.
pub fn scripted(scenario: Scenario) -> Scripted {
    let provider = Arc::new(ScriptedProvider::new(scenario));
    let trace = Trace::new();
    let observer = trace.clone();
    let builder = Agent::builder()
        .provider(Arc::clone(&provider) as Arc<dyn rheon_types::Provider>)
        .model("scripted")
        .permission_policy(AllowAll)
        .clock(Arc::new(TestClock::default()))
        .random(Arc::new(Dice::default()))
        .agent_id("agent")
        .session("s")
        .config_id("c")
        .checks(CheckSettings { nudges_max: 0, ..CheckSettings::default() })
        .on_event(move |event| observer.observe(event));
    Scripted { builder, provider, trace }
}

impl Scripted {
    /// Changes the agent that will be built.
    pub fn with(mut self, change: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Adds a tool.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.with(|builder| builder.tool(tool))
    }

    /// The agent, for tests that talk to it themselves, with what it will leave behind.
    #[allow(clippy::expect_used, reason = "a test that builds a broken agent should stop there")]
    pub fn build(self) -> (Agent, Trace, Arc<ScriptedProvider>) {
        let agent = self.builder.build().expect("the agent of a test must be buildable");
        (agent, self.trace, self.provider)
    }

    /// Runs one prompt to its end and checks the order of all events.
    pub async fn run(self, prompt: impl Into<Prompt>) -> Ran {
        let (agent, trace, provider) = self.build();
        let result = agent.run(prompt).await;
        trace.assert_order();
        Ran { agent, trace, provider, result }
    }
}

/// What a scripted run left behind.
pub struct Ran {
    /// The agent, ready for more.
    pub agent: Agent,
    /// All that happened.
    pub trace: Trace,
    /// The model, with the requests it got.
    pub provider: Arc<ScriptedProvider>,
    /// What the caller got.
    pub result: Result<Arc<AgentOutput>, AgentError>,
}

impl Ran {
    /// The output of the run, whether it failed or not.
    #[allow(clippy::panic, reason = "a test whose run never began should stop there")]
    pub fn output(&self) -> &AgentOutput {
        match &self.result {
            Ok(output) | Err(AgentError::Failed { output, .. }) => output,
            Err(error) => panic!("the run has no output: {error}"),
        }
    }

    /// What the model was sent in its `n`th request, one line per message.
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
