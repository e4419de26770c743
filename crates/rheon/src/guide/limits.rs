//! A run has the limits that you set, and no others: turns, tokens, time, or a budget of its own.
//!
//! A limit is no error. The run ends in order, the conversation says why it was stopped, and the output tells which
//! limit it was.
//!
//! ```
//! use std::time::Duration;
//!
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
//! use rheon::events::LimitKind;
//! # use rheon_testkit::echo;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A model that never comes to an end.
//!     let scenario = Scenario::new().turn(Turn::call("echo", json!({ "text": "again" })).repeat());
//!     let agent = Agent::builder()
//!         .provider(ScriptedProvider::new(scenario))
//!         .tool(echo())
//!         .limits(ExecutionLimits {
//!             turns_max: Some(3),
//!             tokens_max: Some(100_000),
//!             duration_max: Some(Duration::from_secs(60)),
//!         })
//!         .build()?;
//!
//!     let output = agent.run("Go on and on.").await?;
//!     assert_eq!(output.turns, 3);
//!     assert!(matches!(output.end, RunEnd::Limit { limit: LimitKind::Turns, .. }));
//!     Ok(())
//! }
//! ```
