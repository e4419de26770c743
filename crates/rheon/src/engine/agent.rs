//! `Agent`: a conversation with a model, without a project, a journal or configuration files.

use std::ops::Deref;
use std::sync::Arc;

use rheon_agent::{Prompt, RunStream};
use rheon_types::AgentOutput;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::schema::schema_of;

/// A conversation with a model, with tools if you give it some. Clones are handles to the same one.
///
/// ```no_run
/// # #[tokio::main]
/// # async fn main() -> rheon::Result<()> {
/// let output = rheon::Agent::new("anthropic/claude-sonnet-4-5")?.run("What is a monad?").await?;
/// println!("{output}");
/// # Ok(())
/// # }
/// ```
///
/// An agent reads no files, saves nothing and asks nothing. For the whole product, with AGENTS.md, sandboxed tools and a journal,
/// open a [`Session`](crate::Session). What an agent can do besides [`run`](Self::run) are the methods of
/// [`rheon_agent::Agent`], to which it dereferences: `steer`, `follow_up`, `abort`, `subscribe`, `messages`, `continue_run` ...
#[derive(Clone)]
pub struct Agent {
    engine: rheon_agent::Agent,
}

impl Agent {
    /// Runs until the model is done, and returns what the run left. Dropping the future cancels the run.
    pub async fn run(&self, prompt: impl Into<Prompt>) -> Result<Arc<AgentOutput>> {
        Ok(self.engine.run(prompt).await?)
    }

    /// The same, with the last answer as a value of your type. An answer that does not match its JSON Schema is sent back to the model.
    pub async fn run_as<T: JsonSchema + DeserializeOwned>(&self, prompt: impl Into<Prompt>) -> Result<T> {
        Ok(self.engine.run_with_schema(prompt, schema_of::<T>()).await?.parse()?)
    }

    /// Starts a run and returns its events as they happen.
    pub fn run_stream(&self, prompt: impl Into<Prompt>) -> Result<RunStream> {
        Ok(self.engine.run_stream(prompt)?)
    }
}

impl Deref for Agent {
    type Target = rheon_agent::Agent;

    fn deref(&self) -> &Self::Target {
        &self.engine
    }
}

impl From<rheon_agent::Agent> for Agent {
    fn from(engine: rheon_agent::Agent) -> Self {
        Self { engine }
    }
}
