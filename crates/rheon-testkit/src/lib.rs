//! Test kit: write a scenario, run it, and compare the events as text.

mod clock;
mod live;
mod scripted;
pub mod server;
mod store;
mod text;
mod tool_source;
mod tools;
mod trace;
mod worker;

pub use clock::{CountingRandom, TestClock};
pub use live::live;
/// For tests of stores that build agents.
pub use rheon_agent::{Agent, LogPosition};
pub use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
pub use scripted::{ScriptedAgent, ScriptedRun, request_text, scripted};
pub use store::InMemoryStore;
pub use text::{event_line, event_text};
pub use tool_source::ChangingTools;
pub use tools::{FnTool, delegate, echo, fails, fatal, hangs, panics};
pub use trace::Trace;
pub use worker::{
    ScriptedWorker, TestParent, WorkerScript, WorkerStep, scripted_agent_worker, worker_conformance,
};
