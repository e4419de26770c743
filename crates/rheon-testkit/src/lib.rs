//! Test kit: write a scenario, run it, and compare the events as text.

mod clock;
mod login_server;
mod mcp_server;
mod scripted;
pub mod server;
mod store;
mod text;
mod tools;
mod trace;
mod worker;

pub use clock::{CountingRandom, TestClock};
pub use login_server::{LoginServer, LoginServerOptions};
pub use mcp_server::{MCP_SERVER_SCRIPT, mcp_server_arguments};
/// What tests of stores build agents with.
pub use rheon_agent::{Agent, LogPosition};
pub use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
pub use scripted::{ScriptedAgent, ScriptedRun, live, request_text, scripted};
pub use store::InMemoryStore;
pub use text::{event_line, event_text};
pub use tools::{ChangingTools, FnTool, delegate, echo, fails, fatal, hangs, panics};
pub use trace::Trace;
pub use worker::{
    ScriptedWorker, TestParent, WorkerScript, WorkerStep, scripted_agent_worker, worker_conformance,
};
