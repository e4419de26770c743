//! A session on disk is a journal: one line per event, written before anything depends on it. From the journal alone the
//! session goes on, also after the program was killed.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider};
//! use rheon::store::SessionName;
//! use rheon::store::journal::Lease;
//! use rheon::store::sessions::{BLOB_BYTES_MAX, JournalStore, SessionFiles};
//! use rheon::types::Timestamp;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let lease = Lease { pid: std::process::id(), host: None, at: Timestamp::from_millis(0) };
//! let sessions = SessionFiles::new(directory.path(), BLOB_BYTES_MAX);
//! let journals = Arc::new(JournalStore::new(sessions.clone(), None, lease.clone()));
//!
//! let model = ScriptedProvider::new(Scenario::new().turn("Hello, Ada."));
//! let agent = Agent::builder().provider(model).session("chat").journals(&journals).build()?;
//! agent.run("My name is Ada.").await?;
//! drop(agent);
//! drop(journals);
//!
//! // Later, in another process. Opening a session that is in use is an error that names its owner.
//! let journals = Arc::new(JournalStore::new(sessions, None, lease));
//! let session = journals.resume(&SessionName::new("chat")?).await?;
//! assert!(session.unfinished_calls.is_empty(), "no tool call was cut off");
//!
//! let model = ScriptedProvider::new(Scenario::new().turn("Ada."));
//! let agent = Agent::builder().provider(model).resumed(&journals, &session).build()?;
//! agent.run("What is my name?").await?;
//! assert_eq!(agent.messages().len(), 4);
//! # Ok(())
//! # }
//! ```
//!
//! - What the user says is safe on disk before the model is called; what a tool is about to do, before it does it.
//! - A run that ended without saying so is closed when the session is opened: every call gets its result, and one whose end
//!   is not known says that it may have run ([`UnfinishedCall`](crate::store::fold::UnfinishedCall)).
//! - [`JournalStore::fork`](crate::store::sessions::JournalStore::fork) goes on from any event of another session, without a
//!   copy.
//!
//! # Rewind
//!
//! With [`TurnCheckpoints`](crate::store::checkpoint::TurnCheckpoints) as a hook, the files are captured before the first call of
//! a turn that may change something, and the log says so. Then the conversation, the files or both go back to any message.
//!
//! ```
//! # use std::sync::Arc;
//! # use rheon::prelude::*;
//! # use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
//! # use rheon::store::SessionName;
//! # use rheon::store::journal::Lease;
//! # use rheon::store::sessions::{BLOB_BYTES_MAX, JournalStore, SessionFiles};
//! # use rheon::agent::SystemClock;
//! # use rheon::types::{SessionId, Timestamp, ToolCall};
//! use rheon::store::checkpoint::{Checkpoints, CheckpointLimits, TurnCheckpoints};
//! use rheon::store::rewind::{ConflictPolicy, RewindRequest, RewindTo, RestoreScope, plan_rewind, points, rewind, undo};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temp = tempfile::tempdir()?;
//! # let (data, work) = (temp.path().join("data"), temp.path().join("work"));
//! # std::fs::create_dir(&work)?;
//! # let lease = Lease { pid: std::process::id(), host: None, at: Timestamp::from_millis(0) };
//! # let sessions = SessionFiles::new(data.join("sessions"), BLOB_BYTES_MAX);
//! # let journals = Arc::new(JournalStore::new(sessions.clone(), None, lease.clone()));
//! # let file = work.join("notes.txt");
//! # let note = { let file = file.clone(); rheon_testkit::FnTool::new("note", move |_, _| {
//! #     let written = std::fs::write(&file, "new");
//! #     async move { written.map_err(|error| ToolError::Failed(error.to_string()))?; Ok(ToolResult::text("noted")) }
//! # }) };
//! # let model = ScriptedProvider::new(Scenario::new().turn(Turn::call("note", json!({}))).turn("Noted."));
//! std::fs::write(&file, "old")?;
//! // Beside the sessions, a directory per workspace.
//! let checkpoints = Arc::new(Checkpoints::open(&data.join("undo"), &work, CheckpointLimits::default())?);
//! let id = SessionId::from("chat");
//! let seen = (Arc::clone(&journals), id.clone());
//! let may_change = |call: &ToolCall| call.name.as_str() == "note";
//! let hook = TurnCheckpoints::new(Arc::clone(&checkpoints), Arc::new(SystemClock::default()), may_change)
//!     .session(id.clone(), move || seen.0.last_seq(&seen.1));
//! let agent = Agent::builder().provider(model).tool(note).session(id).hook(hook).journals(&journals).build()?;
//! agent.run("Take a note.").await?;
//! assert_eq!(std::fs::read_to_string(&file)?, "new");
//!
//! // What the user said, to choose from; what would happen, to agree to; and then it happens.
//! let name = SessionName::new("chat")?;
//! let points = points(&sessions, &checkpoints, &name)?;
//! let plan = plan_rewind(&sessions, &checkpoints, &name, RewindTo::Before(points[0].seq), RestoreScope::Both)?;
//! let by = RewindRequest { session_id: "chat-2".into(), lease: lease.clone(), others: ConflictPolicy::Refuse };
//! let rewound = rewind(&sessions, &checkpoints, &plan, &by)?;
//! assert_eq!(std::fs::read_to_string(&file)?, "old");
//!
//! // The conversation goes on in another session; the old one is whole. The files can be put back.
//! let session = journals.resume(&SessionName::new("chat-2")?).await?;
//! assert_eq!(session.state.messages().len(), 0);
//! undo(&checkpoints, &rewound, ConflictPolicy::Refuse, lease.at)?;
//! assert_eq!(std::fs::read_to_string(&file)?, "new");
//! # Ok(())
//! # }
//! ```
//!
//! - A file that another process changed after the session's last call is named in the plan, and nothing is rewound unless
//!   [`ConflictPolicy::Overwrite`](crate::store::rewind::ConflictPolicy::Overwrite) says so. Either way it is captured first.
//! - If both are wanted and one fails, neither is rewound: the files are put back.
//! - What `.gitignore` names, and what git itself keeps, is neither captured nor touched. Effects outside the directory stay.
//! - Deleting a session makes its checkpoints go on the next [`sweep`](crate::store::rewind::sweep).
//!
//! # A session again, from its journal alone
//!
//! [`replay_session`](crate::replay::replay_session) runs the real loop over a journal: answers of the model, results of tools,
//! approvals, hooks and the clock come from the log, nothing is called and nothing is waited for. The same events come out,
//! byte for byte, or the first that differs is the error, with its number and both texts.
//!
//! ```
//! # use std::sync::Arc;
//! # use rheon::prelude::*;
//! # use rheon::providers::scripted::{Scenario, ScriptedProvider};
//! # use rheon::store::journal::Lease;
//! # use rheon::store::sessions::{BLOB_BYTES_MAX, JournalStore, SessionFiles};
//! # use rheon::types::Timestamp;
//! use rheon::replay::ReplayUntil;
//! use rheon::store::SessionName;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let lease = Lease { pid: std::process::id(), host: None, at: Timestamp::from_millis(0) };
//! # let sessions = SessionFiles::new(directory.path(), BLOB_BYTES_MAX);
//! # let journals = Arc::new(JournalStore::new(sessions.clone(), None, lease));
//! # let model = ScriptedProvider::new(Scenario::new().turn("Hello, Ada."));
//! # Agent::builder().provider(model).session("chat").journals(&journals).build()?.run("Hi.").await?;
//! let chat = SessionName::new("chat")?;
//! let whole = rheon::replay::replay_session(&sessions, &chat, ReplayUntil::End)?;
//! let begin = rheon::replay::replay_session(&sessions, &chat, ReplayUntil::Seq(4))?;
//! assert_eq!(begin.events, whole.events[..4]);
//! # Ok(())
//! # }
//! ```
//!
//! To go on from an event with another model, fork the session there and build the agent with that model.
//!
//! So a session file is a regression test: copy the journal to `tests/sessions/projects/no-project/` of your crate (with
//! `blobs/`, if it has large payloads) and replay each of [`SessionFiles::list`](crate::store::sessions::SessionFiles::list), as
//! Rheon's own tests do. A journal holds what was said: look through it for secrets before you keep it.
