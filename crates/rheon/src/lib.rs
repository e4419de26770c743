//! Rheon runs a coding agent against any model: you give it a model and tools, it runs the loop between them, and you
//! watch, steer and stop it.
//!
//! A run is a log of [`Event`]s, and everything else is a view of that log. An [`Agent`] is a conversation: each
//! [`run`](Agent::run) takes a prompt, calls the model, runs the tools it asks for, and goes on until the model is done.
//!
//! ```
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A model that plays a script: no network, no key. Any other `Provider` goes in its place.
//!     let model = ScriptedProvider::new(Scenario::new().turn("Hello! What shall we build?"));
//!     let agent = Agent::builder().provider(model).system_prompt("You are friendly.").build()?;
//!
//!     let output = agent.run("Say hello.").await?;
//!     assert_eq!(output.text, "Hello! What shall we build?");
//!     assert_eq!(output.end, RunEnd::Completed);
//!     Ok(())
//! }
//! ```
//!
//! # Three ways to watch
//!
//! **A callback** sees every event of every run, in order. It runs inside the loop, so it should return soon.
//!
//! ```
//! # use rheon::prelude::*;
//! # use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
//! # use std::sync::{Arc, Mutex};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let echo = rheon_testkit::echo();
//! # let turn = Turn::say("I look. ").tool_call("echo", json!({ "text": "hi" }));
//! # let model = ScriptedProvider::new(Scenario::new().turn(turn).turn("It says hi."));
//! let seen = Arc::new(Mutex::new(String::new()));
//! let screen = Arc::clone(&seen);
//! let agent = Agent::builder()
//!     .provider(model)
//!     .tool(echo)
//!     .on_event(move |e| match &e.kind {
//!         AgentEvent::Message(MessageEvent::TextDelta { delta }) => screen.lock().unwrap().push_str(delta),
//!         AgentEvent::Tool(ToolEvent::Start { name, .. }) => screen.lock().unwrap().push_str(&format!("[{name}] ")),
//!         _ => {}
//!     })
//!     .build()?;
//!
//! agent.run("What does it say?").await?;
//! assert_eq!(*seen.lock().unwrap(), "I look. [echo] It says hi.");
//! # Ok(())
//! # }
//! ```
//!
//! **A broadcast** has any number of subscribers, each in a task of its own. A subscriber that falls behind never holds up
//! the run: it is told how many events it missed and can go on with the oldest that is left.
//!
//! ```
//! # use rheon::prelude::*;
//! # use rheon::providers::scripted::{Scenario, ScriptedProvider};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let model = ScriptedProvider::new(Scenario::new().turn("One two three."));
//!
//! let agent = Agent::builder().provider(model).enable_broadcast(256).build()?;
//!
//! let mut rx = agent.subscribe().ok_or("built without enable_broadcast")?;
//! let text = tokio::spawn(async move {
//!     let mut text = String::new();
//!     while let Ok(e) = rx.recv().await {
//!         if let AgentEvent::Message(MessageEvent::TextDelta { delta }) = &e.kind {
//!             text.push_str(delta);
//!         }
//!     }
//!     text
//! });
//!
//! let mut rx2 = agent.subscribe().ok_or("built without enable_broadcast")?;
//! let last = tokio::spawn(async move {
//!     let mut last = None;
//!     while let Ok(e) = rx2.recv().await {
//!         last = Some(e.kind.name().to_owned());
//!     }
//!     last
//! });
//!
//! agent.run("Count.").await?;
//! drop(agent); // Ends both subscriptions.
//! assert_eq!(text.await?, "One two three.");
//! assert_eq!(last.await?.as_deref(), Some("agent.end"));
//!
//! // With room for 4 events, one who reads nothing until the run is over has missed the rest.
//! # let model = ScriptedProvider::new(Scenario::new().turn("One two three."));
//! let agent = Agent::builder().provider(model).enable_broadcast(4).build()?;
//! let mut late = agent.subscribe().ok_or("built without enable_broadcast")?;
//! agent.run("Count.").await?;
//! assert_eq!(late.recv().await, Err(RecvError::Lagged(9)));
//! assert_eq!(late.recv().await?.kind.name(), "message.end");
//! # Ok(())
//! # }
//! ```
//!
//! **A stream** goes both ways: it shows the events of one run, answers its questions, speaks to it and stops it. By
//! default tools that change something ask first.
//!
//! ```
//! # use rheon::prelude::*;
//! # use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
//! # use rheon_testkit::FnTool;
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let deploy = FnTool::new("deploy", |_, _| async { Ok(ToolResult::text("version 2 is live")) });
//! # let scenario = Scenario::new()
//! #     .turn(Turn::call("deploy", json!({ "to": "production" })))
//! #     .turn(Turn::say("Version 2 is live; I changed nothing else.").when_last_text_contains("explain"))
//! #     .turn(Turn::say("Let me see").hang());
//! # let model = ScriptedProvider::new(scenario);
//! # let agent = Agent::builder().provider(model).tool(deploy.effect(Effect::Unsafe)).build()?;
//! let mut stream = agent.run_stream("Deploy")?;
//!
//! while let Some(event) = stream.next().await {
//!     match &event.kind {
//!         AgentEvent::Approval(ApprovalEvent::Required { request }) => {
//!             // Heard before the model speaks again.
//!             stream.inject_message("Then explain what you did");
//!             stream.respond_permission(&request.id, PermissionDecision::Allow)?;
//!         }
//!         AgentEvent::Run(RunEvent::End { output }) => {
//!             assert_eq!(output.text, "Version 2 is live; I changed nothing else.");
//!             break;
//!         }
//!         _ => {}
//!     }
//! }
//!
//! // A run that is cancelled still ends in order, and its output says so.
//! let stream = agent.run_stream("Now roll back")?;
//! stream.cancel();
//! assert_eq!(stream.finish().await?.end, RunEnd::Aborted);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to read next
//!
//! | to | read |
//! |---|---|
//! | ask a real model, of any vendor | [`guide::models`] |
//! | give the model something it can do | [`guide::tools`] |
//! | get answers as values of your own types | [`guide::output`] |
//! | ask, veto and count at fixed points of a run | [`guide::hooks`] |
//! | stop runs that take too long or cost too much | [`guide::limits`] |
//! | keep sessions on disk and go on with them | [`guide::sessions`] |
//! | hold the conversation yourself and call the loop as a function | [`guide::own_state`] |
//! | see all of it at work, offline | `cargo run -p rheon --example observe` (also `tool`, `derive_tool`, `steer`, `recorder`; `ask` needs a key) |

#![warn(missing_docs)]

pub mod guide;
mod output;
pub mod prelude;
mod resolved;
mod session;
mod skills;
mod toolkit;

pub use output::{OutputError, ParseOutput, WithOutput};
pub use resolved::WithModel;
#[doc(inline)]
pub use rheon_agent::*;
#[doc(inline)]
pub use rheon_macros::Tool;
pub use rheon_policy as policy;
pub use rheon_providers as providers;
pub use rheon_sandbox as sandbox;
pub use rheon_store as store;
pub use rheon_tools as tools;
#[doc(hidden)]
pub use rheon_tools::__private;
pub use rheon_tools::{DerivedTool, IntoToolOutput, ToolArguments};
pub use rheon_types as types;
#[doc(inline)]
pub use rheon_types::event::*;
#[doc(inline)]
pub use rheon_types::*;
pub use session::{ReplaySessionError, WithSession, replay_session};
pub use skills::WithSkills;
pub use toolkit::{WithToolkit, default_tools};

/// What `#[derive(JsonSchema)]` comes from; `#[schemars(crate = "rheon::schemars")]` where it is no dependency of its own.
pub use schemars;
/// What `#[derive(Deserialize)]` comes from; `#[serde(crate = "rheon::serde")]` where it is no dependency of its own.
pub use serde;
/// What traits and types of this crate are made of.
pub use serde_json::{Value, json};
/// Stops what it was handed to.
pub use tokio_util::sync::CancellationToken;
