//! `Session`: a session in a directory, to run prompts in.

use std::sync::Arc;

use rheon_types::event::PermissionMode;
use rheon_types::protocol::{CloseReason, Command, CostReport, Query, Reply as Answer, SessionInfo};
use rheon_types::{AgentMessage, Client, ClientError, Content, SessionId};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::reply::Reply;
use super::run::{Approve, Run};
use crate::error::Result;
use crate::schema::schema_of;

/// How many messages [`Session::messages`] asks for at most.
const MESSAGES_MAX: u32 = 100_000;

/// A session in a directory, with everything that the program `rheon` has there: AGENTS.md, skills, sandboxed tools, permission rules,
/// a journal to resume from, keys and settings of the user. Clones are handles to the same session.
///
/// ```no_run
/// use rheon::prelude::*;
///
/// # #[tokio::main]
/// # async fn main() -> rheon::Result<()> {
/// let session = Session::builder(".")
///     .model("anthropic/claude-sonnet-4-5")
///     .approve(|call| async move { ask_in_terminal(call).await })
///     .open()
///     .await?;
/// let reply = session.run("Make the tests pass").await?;
/// println!("{reply}");
/// # Ok(())
/// # }
/// ```
///
/// One prompt runs at a time; a second one is an error of kind [`Busy`](crate::ErrorKind::Busy). A session reaches its runs through
/// the session protocol alone ([`Host`](crate::protocol::Host) and [`Client`]), as every other interface does.
#[derive(Clone)]
pub struct Session {
    pub(super) client: Arc<dyn Client>,
    pub(super) id: SessionId,
    pub(super) approve: Option<Approve>,
}

impl Session {
    /// Runs a prompt until the model is done. A run that a limit, a hook or a cancellation ends is a reply too: see its `end`. Dropping
    /// the future cancels the run.
    pub async fn run(&self, prompt: impl Into<String>) -> Result<Reply> {
        self.start(prompt).reply().await
    }

    /// The same, with the last answer as a value of your type. An answer that does not match its JSON Schema is sent back to the model.
    ///
    /// ```no_run
    /// # use rheon::prelude::*;
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Plan {
    ///     /// What to do, in order.
    ///     steps: Vec<String>,
    /// }
    ///
    /// # async fn example(session: Session) -> rheon::Result<()> {
    /// let plan: Plan = session.run_as("Plan the release").await?;
    /// println!("first: {}", plan.steps[0]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_as<T: JsonSchema + DeserializeOwned>(&self, prompt: impl Into<String>) -> Result<T> {
        let (content, output_schema) = (content(prompt.into()), schema_of::<T>());
        let reply = self.launch(Command::PromptWithSchema { content, output_schema }).reply().await?;
        Ok(reply.parse()?)
    }

    /// Starts a run and returns at once. What goes wrong, a run in progress included, is reported by [`Run::reply`].
    ///
    /// ```no_run
    /// # async fn example(session: rheon::Session) -> rheon::Result<()> {
    /// let mut run = session.start("Explain this project");
    /// while let Some(text) = run.text().next().await {
    ///     print!("{text}");
    /// }
    /// let reply = run.reply().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn start(&self, prompt: impl Into<String>) -> Run {
        self.launch(Command::Prompt { content: content(prompt.into()) })
    }

    fn launch(&self, command: Command) -> Run {
        Run::start(&self.client, &self.id, command, self.approve.clone())
    }

    /// The id, to resume the session with.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Says something to the run in progress, between its tool calls; without one, to the next.
    pub async fn steer(&self, text: impl Into<String>) -> Result<()> {
        self.send(Command::Steer { content: content(text.into()), child: None }).await
    }

    /// Says something once the run in progress would stop.
    pub async fn follow_up(&self, text: impl Into<String>) -> Result<()> {
        self.send(Command::FollowUp { content: content(text.into()), child: None }).await
    }

    /// Cancels the run in progress.
    pub async fn cancel(&self) -> Result<()> {
        self.send(Command::Cancel { child: None }).await
    }

    /// Changes the model from the next run on.
    pub async fn set_model(&self, model: impl Into<String>) -> Result<()> {
        self.send(Command::SetModel { model: Some(model.into()) }).await
    }

    /// Changes what runs without approval.
    pub async fn set_mode(&self, mode: PermissionMode) -> Result<()> {
        self.send(Command::SetMode { mode }).await
    }

    /// The conversation so far.
    pub async fn messages(&self) -> Result<Vec<Arc<AgentMessage>>> {
        match self.client.query(Query::Snapshot { messages_max: Some(MESSAGES_MAX) }).await? {
            Answer::Snapshot { snapshot } => Ok(snapshot.messages),
            _ => Err(unexpected().into()),
        }
    }

    /// What the session is: its model, its mode, its tools, where it works.
    pub async fn facts(&self) -> Result<SessionInfo> {
        facts(&*self.client).await
    }

    /// What the session has cost, in all its runs.
    pub async fn cost(&self) -> Result<CostReport> {
        match self.client.query(Query::Cost).await? {
            Answer::Cost { report } => Ok(report),
            _ => Err(unexpected().into()),
        }
    }

    /// The connection underneath, for every command, query and event of the session protocol.
    pub fn client(&self) -> &Arc<dyn Client> {
        &self.client
    }

    /// Closes the session: cancels a run in progress, runs the hooks for the end of a session, and lets others open it. A session that
    /// is only dropped is saved as well.
    pub async fn close(self) -> Result<()> {
        self.send(Command::Close { reason: CloseReason::Other }).await
    }

    async fn send(&self, command: Command) -> Result<()> {
        self.client.send(command).await?;
        Ok(())
    }
}

pub(super) async fn facts(client: &dyn Client) -> Result<SessionInfo> {
    match client.query(Query::Facts).await? {
        Answer::Facts { facts } => Ok(*facts),
        _ => Err(unexpected().into()),
    }
}

fn content(text: String) -> Vec<Content> {
    if text.trim().is_empty() { Vec::new() } else { vec![Content::Text { text }] }
}

pub(super) fn unexpected() -> ClientError {
    ClientError::failed("the session sent an answer of another kind than the question")
}
