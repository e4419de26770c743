//! A hook is asked or told at fixed points of a run: before and after the run, each turn and each tool.
//!
//! [`ClosureHook`](crate::hooks::ClosureHook) makes one of closures. Those that return `bool` veto with `false`: a tool that is
//! vetoed does not run and the model learns why; a turn that is vetoed ends the run. Implement [`Hook`](crate::hooks::Hook) to wait
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
//!         .turn(Turn::say("Result: {{last_tool_result}}").usage(usage));
//!     let model = ScriptedProvider::new(scenario);
//!     let agent = Agent::builder().provider(model).tool(echo()).hook(hook).build()?;
//!
//!     let output = agent.run("Echo the secret.").await?;
//!     assert_eq!(output.text, "Result: Skipped: vetoed by a hook");
//!     assert_eq!(spent.load(Ordering::Relaxed), 240);
//!     Ok(())
//! }
//! ```
//!
//! # Decide, answer, amend
//!
//! A type that implements [`Hook`](crate::hooks::Hook) can do more than veto:
//!
//! | method | may |
//! |---|---|
//! | `permit_tool` | allow, ask about or deny a call, or give it other arguments, before anybody is asked |
//! | `answer_approval` | answer a question in place of a person |
//! | `after_tool` | change what the model reads of a result, or add to it |
//! | `before_stop` | keep the run going by saying why |
//!
//! ```
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
//! use rheon::types::{Amendment, Answer, HookVerdict, HookPermission, ToolCall};
//! # use rheon_testkit::echo;
//!
//! struct Careful;
//!
//! impl Hook for Careful {
//!     fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, HookPermission> {
//!         let is_loud = call.arguments["text"].as_str().is_some_and(|text| text.ends_with('!'));
//!         let opinion = is_loud.then(|| HookVerdict::Deny("not so loud".into()));
//!         HookPermission { verdict: opinion, ..HookPermission::default() }.into()
//!     }
//!
//!     fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
//!         Amendment { context: vec!["Remember: softly.".into()], ..Amendment::default() }.into()
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let scenario = Scenario::new()
//!         .turn(Turn::call("echo", json!({ "text": "hi!" })))
//!         .turn(Turn::call("echo", json!({ "text": "hi" })))
//!         .turn(Turn::say("Result: {{last_tool_result}}"));
//!     let agent = Agent::builder()
//!         .provider(ScriptedProvider::new(scenario))
//!         .tool(echo())
//!         .hook(Careful)
//!         .build()?;
//!
//!     let output = agent.run("Say hi.").await?;
//!     assert_eq!(output.text, "Result: hi\nRemember: softly.");
//!     Ok(())
//! }
//! ```
//!
//! Hooks that are commands of the user, in Claude Code's protocol, are [`CommandHooks`](crate::tools::hooks::CommandHooks):
//! one value that is both a hook and an input filter.
