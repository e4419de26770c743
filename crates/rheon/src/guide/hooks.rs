//! A hook is asked or told at fixed points of a run: before and after the run, each turn and each tool.
//!
//! [`ClosureHook`](crate::ClosureHook) makes one of closures. Those that return `bool` veto with `false`: a tool that is
//! vetoed does not run and the model is told; a turn that is vetoed ends the run. Implement [`Hook`](crate::Hook) to wait
//! for something, or to say why.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
//! # use rheon_testkit::echo;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let spent = Arc::new(AtomicU64::new(0));
//!     let meter = Arc::clone(&spent);
//!     let hook = ClosureHook::new()
//!         .before_tool(|name, _call_id, arguments| name == "echo" && arguments["text"] != "secret")
//!         .after_turn(move |_history, usage| {
//!             meter.fetch_add(usage.total(), Ordering::Relaxed);
//!         });
//!
//!     let usage = Usage { input: 100, output: 20, ..Usage::default() };
//!     let scenario = Scenario::new()
//!         .turn(Turn::call("echo", json!({ "text": "secret" })).usage(usage))
//!         .turn(Turn::say("I was told: {{last_tool_result}}").usage(usage));
//!     let model = ScriptedProvider::new(scenario);
//!     let agent = Agent::builder().provider(model).tool(echo()).hook(hook).build()?;
//!
//!     let output = agent.run("Echo the secret.").await?;
//!     assert_eq!(output.text, "I was told: Skipped: a hook said no");
//!     assert_eq!(spent.load(Ordering::Relaxed), 240);
//!     Ok(())
//! }
//! ```
