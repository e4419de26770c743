//! An [`Agent`](crate::Agent) holds its conversation for you. To hold it yourself, call the loop as a function:
//! [`agent_loop`](crate::agent::agent_loop) with new prompts, [`agent_loop_continue`](crate::agent::agent_loop_continue) without.
//!
//! What a run needs comes in three parts: the conversation ([`AgentContext`](crate::agent::AgentContext)), what it is configured
//! with ([`RunConfig`](crate::agent::RunConfig)), and where its events go ([`EventLog`](crate::agent::EventLog)).
//!
//! ```
//! use std::sync::Arc;
//!
//! use rheon::providers::scripted::{Scenario, ScriptedProvider};
//! use rheon::agent::{AgentContext, EventLog, RunConfig, Observers, agent_loop, agent_loop_continue};
//! use rheon::types::{AgentMessage, ContinuationKind};
//! use rheon::prelude::CancellationToken;
//!
//! #[tokio::main]
//! async fn main() {
//!     let scenario = Scenario::new().turn("Rust, of course.").turn("On reflection, it depends.");
//!     // All fields are public: change what you like.
//!     let config = Arc::new(RunConfig::new(Arc::new(ScriptedProvider::new(scenario))));
//!     let clock = Arc::clone(&config.clock);
//!     let log = EventLog::new("my-session".into(), Arc::clone(&clock), None, Observers::default());
//!     let cancel = CancellationToken::new();
//!     let mut context = AgentContext::new("my-agent".into());
//!
//!     let prompt = AgentMessage::user("Which language?", clock.now());
//!     let output = agent_loop(vec![prompt], &mut context, &config, &log, &cancel).await;
//!     assert_eq!(output.text, "Rust, of course.");
//!     assert_eq!(context.history.len(), 2);
//!
//!     // The conversation is yours: go back to the question and let it be answered again.
//!     context.history = context.history.prefix(1);
//!     context.continuation = Some(ContinuationKind::rerun(clock.now()));
//!     let output = agent_loop_continue(&mut context, &config, &log, &cancel).await;
//!     assert_eq!(output.text, "On reflection, it depends.");
//!     assert_eq!(context.history.len(), 2);
//! }
//! ```
