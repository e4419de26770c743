//! The Rheon SDK: a coding agent in your own program, against any model.
//!
//! A [`Session`] is the whole product in a directory: AGENTS.md, sandboxed tools, permission rules, a journal to resume from, the keys and
//! settings of the user. It does what the program `rheon` does.
//!
//! ```no_run
//! use rheon::prelude::*;
//!
//! #[tokio::main]
//! async fn main() -> rheon::Result<()> {
//!     let session = Session::builder(".")
//!         .model("anthropic/claude-sonnet-4-5")
//!         .approve(|call| async move { ask_in_terminal(call).await })
//!         .open()
//!         .await?;
//!     let reply = session.run("Make the tests pass").await?;
//!     println!("{reply}"); // the text; also reply.cost, reply.turns, reply.usage, reply.diff()
//!     Ok(())
//! }
//! ```
//!
//! An [`Agent`] is the engine alone: a model, your tools, and the loop between them. It reads no files and saves nothing.
//!
//! ```
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider};
//!
//! #[tokio::main]
//! async fn main() -> rheon::Result<()> {
//!     // A model that plays a script: no network, no key. With a key: Agent::new("anthropic/claude-sonnet-4-5")?.
//!     let model = ScriptedProvider::new(Scenario::new().turn("Hello! What shall we build?"));
//!     let agent = Agent::builder().provider(model).system_prompt("You are friendly.").build()?;
//!
//!     let output = agent.run("Say hello.").await?;
//!     assert_eq!(output.to_string(), "Hello! What shall we build?");
//!     assert_eq!(output.end, RunEnd::Completed);
//!     Ok(())
//! }
//! ```
//!
//! A run is a log of [`Event`]s, and everything else is a view of that log.
//!
//! # Cargo features
//!
//! | feature | what it adds | without it |
//! |---|---|---|
//! | `full` (default) | all of the below | |
//! | `session` | [`Session`] and the configured product; brings `tools` and `store` | the engine, the providers and your own tools |
//! | `tools` | the standard tools, their permission rules and their sandbox | `#[derive(Tool)]` |
//! | `store` | sessions of the engine on disk | conversations last as long as the program |
//! | `sqlite` | the index of sessions, search and memory (compiles SQLite) | sessions are listed from their journals; search and memory are off |
//! | `grammars` | the map of a repository in its languages (compiles eight C grammars) | only shell scripts are mapped |
//! | `ruby` | Ruby in that map | |
//! | `connect` | MCP servers in sessions and agents, tools from OpenAPI documents (compiles the MCP SDK) | configured servers are ignored |
//!
//! The engine alone compiles fastest: `rheon = { version = "0.1", default-features = false }`. The product without SQLite and grammars:
//! `rheon = { version = "0.1", default-features = false, features = ["session"] }`.
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
//! the run: it learns how many events it missed and continues with the oldest one left.
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
//! | save and resume sessions of the engine | [`guide::sessions`] |
//! | hold the conversation yourself and call the loop as a function | [`guide::own_state`] |
//! | copy a program | `crates/rheon/examples/`: `hello`, `custom_tool`, `approvals`, `typed_output`, `resume`, `chat_server`, ... |

mod engine;
mod environment;
mod error;
pub mod guide;
pub mod prelude;
pub mod replay;
mod schema;
#[cfg(feature = "session")]
mod session;
mod terminal;
#[cfg(feature = "tools")]
mod toolkit;

pub use engine::{Agent, AgentBuilder};
pub use error::{Error, ErrorKind, Result};
#[doc(inline)]
pub use rheon_macros::Tool;
#[doc(hidden)]
pub use rheon_tools::__private;
pub use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse};
pub use rheon_types::{AgentEvent, AgentOutput, Effect, Event, Tool, ToolContext, ToolError, ToolResult};
#[cfg(feature = "session")]
pub use session::{Reply, Run, Session, SessionBuilder};
pub use terminal::ask_in_terminal;
#[cfg(feature = "tools")]
pub use toolkit::default_tools;

/// The configured product underneath `Session`: configuration, sessions, hosts over a pipe, the doctor.
#[cfg(feature = "session")]
pub use rheon_app as app;
#[cfg(feature = "tools")]
pub use rheon_policy as policy;
pub use rheon_providers as providers;
#[cfg(feature = "tools")]
pub use rheon_sandbox as sandbox;
#[cfg(feature = "store")]
pub use rheon_store as store;
/// The whole vocabulary: messages, events, commands, errors, and the traits between the parts.
pub use rheon_types as types;
/// What `#[derive(JsonSchema)]` comes from; `#[schemars(crate = "rheon::schemars")]` where it is not a dependency of yours.
pub use schemars;
/// What `#[derive(Deserialize)]` comes from; `#[serde(crate = "rheon::serde")]` where it is not a dependency of yours.
pub use serde;

/// The engine: the loop, its settings, limits, workers and budgets.
pub mod agent {
    pub use crate::{Agent, AgentBuilder};
    #[doc(inline)]
    pub use rheon_agent::*;
}

/// What the model sees: prompts in bands, token counts, compaction, effort.
pub mod context {
    pub use rheon_agent::{
        Band, CheckSettings, Compaction, CompactionStrategy, ContextTracker, ContextUsage, CountMode, Effort,
        GoalReminder, MessageCounts, Overflow, PromptBuilder, PromptSection, SectionUsage, Summarizer,
        SummarySource, TieredCompaction, TokenCounter, WindowSettings, WindowView, base_prompt, flat_tokens,
        schema_problem, summary_prompt,
    };
    pub use rheon_types::{Reminder, ReminderContext, SystemPrompt, SystemSection, WindowCut};
}

/// Everything that happens in a session: [`Event`] and its parts.
pub mod events {
    #[cfg(feature = "session")]
    pub use crate::session::{EventsOfRun, TextOfRun};
    pub use rheon_types::event::*;
    pub use rheon_types::{AgentOutput, LimitKind, RunEnd, RunFailure, StopReason, Usage};
}

/// Code that runs at fixed points of a run; see [`guide::hooks`].
pub mod hooks {
    pub use rheon_agent::{
        ClosureHook, after_run, after_tool, after_turn, before_run, before_stop, before_tool, before_turn,
    };
    pub use rheon_types::{
        Amendment, Answer, FilterVerdict, Flow, Hook, HookPermission, HookPoint, HookReport, HookVerdict,
        InputFilter,
    };
}

/// The session protocol: what an interface sends to a session, and what comes back.
pub mod protocol {
    #[cfg(feature = "session")]
    pub use rheon_app::pipe;
    #[cfg(feature = "session")]
    pub use rheon_app::session::{HostParts, LocalHost};
    pub use rheon_types::protocol::*;
    pub use rheon_types::{Client, ClientError, EventStream, Host};
}

/// The standard tools and what your own are made of.
pub mod tools {
    #[cfg(feature = "tools")]
    pub use crate::default_tools;
    /// Tools from elsewhere: MCP servers and OpenAPI documents.
    #[cfg(feature = "connect")]
    pub use rheon_connect as connect;
    #[doc(inline)]
    pub use rheon_tools::*;
}

/// The code in the README and in the pages under `docs/` compiles.
#[cfg(all(doctest, feature = "session"))]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/SDK.md")]
    struct Sdk;

    #[doc = include_str!("../../../docs/TOOLS.md")]
    struct Tools;

    #[cfg(feature = "connect")]
    #[doc = include_str!("../../../docs/OPENAPI.md")]
    struct OpenApi;
}
