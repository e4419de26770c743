//! The demo: a bundled scenario, played through the real agent in a workspace of its own.

mod error;
mod notes;
mod paced;
mod read_note;
mod workspace;
mod write_note;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rheon_agent::{Agent, AgentError, RunStream};
use rheon_providers::scripted::{Scenario, ScriptedProvider};
use rheon_types::{AgentOutput, AllowAll, Event, ThinkingLevel};
use tokio_util::sync::CancellationToken;

pub use error::DemoError;
pub use notes::NoteFile;
use notes::Notes;
use paced::Paced;
use read_note::ReadNote;
use workspace::Workspace;
use write_note::WriteNote;

const SCENARIO: &str = include_str!("scenario.toml");
const SYSTEM_PROMPT: &str = include_str!("system.md");
const PROMPT: &str = include_str!("prompt.md");

/// How the demo is played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoOptions {
    /// Without the pauses that make the stream visible.
    pub fast: bool,
    /// Whether the workspace stays when the demo is over.
    pub keep: bool,
    /// Where the workspace is made.
    pub folder: PathBuf,
}

/// What the demo left behind.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoReport {
    /// What the run left: how it ended, its usage, its turns.
    pub output: Arc<AgentOutput>,
    /// The files that the model made with its tools, by name.
    pub notes: Vec<NoteFile>,
    /// How long it took.
    pub duration: Duration,
    /// The workspace, if it was to be kept; otherwise it is gone.
    pub kept: Option<PathBuf>,
}

/// Plays the demo and shows each event to `on_event` as it happens. A run that was cancelled or failed still has a report:
/// its output says how it ended. The workspace is removed on every path, also if the future is dropped.
pub async fn demo(
    options: DemoOptions,
    cancel: &CancellationToken,
    on_event: impl FnMut(&Event),
) -> Result<DemoReport, DemoError> {
    let started = Instant::now();
    let workspace = Workspace::create(&options.folder)?;
    let notes = Arc::new(Notes::new(workspace.path()));
    let agent = agent(options.fast, &notes)?;
    let stream = agent.run_stream(PROMPT.trim())?;
    let output = follow(stream, cancel, on_event).await?;
    let notes = notes.list().map_err(|error| DemoError::Notes(error.to_string()))?;
    let kept = if options.keep { Some(workspace.keep()) } else { workspace.remove().map(|()| None)? };
    Ok(DemoReport { output, notes, duration: started.elapsed(), kept })
}

fn agent(fast: bool, notes: &Arc<Notes>) -> Result<Agent, DemoError> {
    let model = ScriptedProvider::new(Scenario::from_toml(SCENARIO)?);
    let builder = Agent::builder();
    let builder = if fast { builder.provider(model) } else { builder.provider(Paced::new(model)) };
    let agent = builder
        .model("scripted")
        .system_prompt(SYSTEM_PROMPT.trim())
        .thinking(ThinkingLevel::Low)
        .tool(WriteNote::new(notes))
        .tool(ReadNote::new(notes))
        // The tools reach nothing but a folder that was made for them.
        .permission_policy(AllowAll)
        .build()?;
    Ok(agent)
}

/// Shows the events of a run to its end; cancels it once `cancel` fires.
async fn follow(
    mut stream: RunStream,
    cancel: &CancellationToken,
    mut on_event: impl FnMut(&Event),
) -> Result<Arc<AgentOutput>, AgentError> {
    let mut told = false;
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled(), if !told => {
                told = true;
                stream.cancel();
            }
            event = stream.next() => match event {
                Some(event) => on_event(&event),
                None => break,
            },
        }
    }
    match stream.finish().await {
        Ok(output) | Err(AgentError::Failed { output, .. }) => Ok(output),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod notes_tests;
#[cfg(test)]
mod read_note_tests;
#[cfg(test)]
mod write_note_tests;
