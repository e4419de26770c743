//! The demo: a full session, offline. A scripted model fixes a temporary repository through the real session: its tools, its gate, its
//! sandbox, its log.

mod error;
mod paced;
mod project;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use rheon_providers::ResolvedModel;
use rheon_providers::scripted::{Scenario, ScriptedProvider};
use rheon_sandbox::SandboxError;
use rheon_tools::ToolkitError;
use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::protocol::{CloseReason, Command, OpenRequest, Query, Reply, Subscription};
use rheon_types::{
    AgentEvent, AgentOutput, Client, Content, Event, MessageEvent, ModelInfo, Provider, RunEvent, SessionId,
};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, ConfigInputs, LogLevel, LogSettings, TrustChoice};
use crate::session::{
    HostExtensions, HostParts, LocalHost, NoticeSink, OpenError, ProvidedModel, SystemContext, strict_toolkit,
};
use crate::sessions::EnvVars;
pub use error::DemoError;
use paced::Paced;
use project::Project;

const SCENARIO: &str = include_str!("scenario.toml");
const PROMPT: &str = include_str!("prompt.md");

/// How the demo is played.
pub struct DemoOptions {
    /// Without the pauses that make the stream visible.
    pub fast: bool,
    /// What becomes of the repository and the session.
    pub files: DemoFiles,
    pub dir: PathBuf,
    /// Where every event is written, too.
    pub trace: Option<PathBuf>,
    /// The machine, the user and the time.
    pub system: SystemContext,
}

/// What becomes of the demo's repository and session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoFiles {
    /// Keep the repository and the session.
    Keep,
    /// Remove the repository and save no session.
    Remove,
}

/// What the demo left behind.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoReport {
    /// What the run left: how it ended, its usage, its turns.
    pub output: Arc<AgentOutput>,
    pub session_id: SessionId,
    /// The event that ended the prompt, which the run can be taken back to.
    pub prompt_seq: u64,
    /// The repository, if it is still there.
    pub dir: Option<PathBuf>,
    pub is_saved: bool,
}

/// Plays the demo and shows each event to `on_event` as it happens. A run that was cancelled or failed still has a report: its
/// output says how it ended.
pub async fn demo(
    options: DemoOptions,
    cancel: &CancellationToken,
    tell: NoticeSink,
    on_event: impl FnMut(&Event),
) -> Result<DemoReport, DemoError> {
    let project = Project::create(&options.dir).await?;
    let client = open(&options, &project, &tell).await?;
    let followed = follow(&*client, cancel, on_event).await;
    let Reply::Facts { facts } = client.query(Query::Facts).await? else { return Err(DemoError::Lost) };
    client.send(Command::Close { reason: CloseReason::Other }).await?;
    let (output, prompt_seq) = followed?;
    let dir = match options.files {
        DemoFiles::Keep => Some(project.keep()),
        DemoFiles::Remove => project.remove().map(|()| None)?,
    };
    let (session_id, is_saved) = (facts.session_id, facts.is_saved);
    Ok(DemoReport { output, session_id, prompt_seq, dir, is_saved })
}

async fn open(
    options: &DemoOptions,
    project: &Project,
    tell: &NoticeSink,
) -> Result<Arc<dyn Client>, DemoError> {
    let request = OpenRequest { task: Some(PROMPT.trim().to_owned()), ..OpenRequest::default() };
    let parts = parts(options, project, DemoSandbox::Yes)?;
    let sandbox = sandbox_problem(&parts).await;
    let parts = match sandbox {
        None => parts,
        // The demo's commands are known, so it is safe to run them without a sandbox, with a notice.
        Some(problem) => {
            let message = format!("{problem}; the demo's commands are harmless and run without a sandbox");
            tell(Notice::warning(NoticeTopic::Sandbox, message));
            self::parts(options, project, DemoSandbox::No)?
        }
    };
    Ok(LocalHost::shared(parts).open(request).await?)
}

/// Why no sandbox is available here, if so.
async fn sandbox_problem(parts: &HostParts) -> Option<String> {
    let quiet: NoticeSink = Arc::new(|_| {});
    match strict_toolkit(&parts.system, &parts.config, &quiet).await {
        Err(OpenError::Toolkit(ToolkitError::Sandbox(error @ SandboxError::Unavailable { .. }))) => {
            Some(error.to_string())
        }
        Err(_) | Ok(_) => None,
    }
}

/// Whether commands run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DemoSandbox {
    Yes,
    No,
}

fn parts(options: &DemoOptions, project: &Project, held: DemoSandbox) -> Result<HostParts, DemoError> {
    let working_dir = project.path().to_owned();
    // The user's settings must not change the demo.
    let inputs =
        ConfigInputs { trust: TrustChoice::Nothing, ..ConfigInputs::new(EnvVars::default(), &working_dir) };
    let inputs = inputs
        .with_flag("demo", "permissions.allow", vec!["Bash(./test.sh)".to_owned()])
        .with_flag("demo", "permissions.default_mode", "acceptEdits")
        .with_flag("demo", "sessions.on_failure", "in_memory");
    let inputs = match options.files {
        DemoFiles::Keep => inputs,
        DemoFiles::Remove => inputs.with_flag("demo", "sessions.keep", false),
    };
    let inputs = match held {
        DemoSandbox::Yes => inputs,
        DemoSandbox::No => inputs.with_flag("demo", "sandbox.require", "none"),
    };
    let mut config = Config::load(inputs)?;
    config.settings.log = log(options, &working_dir);
    Ok(HostParts {
        system: SystemContext { working_dir, ..options.system.clone() },
        config,
        extras: HostExtensions { model: Some(model(options.fast)?), ..HostExtensions::default() },
        trace: options.trace.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The user's log settings apply to the demo, too, if they are readable.
fn log(options: &DemoOptions, dir: &Path) -> LogSettings {
    let inputs = ConfigInputs {
        trust: TrustChoice::Nothing,
        ..ConfigInputs::new(options.system.environment.clone(), dir)
    };
    let configured = Config::load(inputs).map(|config| config.settings.log).unwrap_or_default();
    match options.files {
        DemoFiles::Keep => configured,
        DemoFiles::Remove => LogSettings { level: LogLevel::Off, ..configured },
    }
}

fn model(fast: bool) -> Result<ProvidedModel, DemoError> {
    let scripted = ScriptedProvider::new(Scenario::from_toml(SCENARIO)?);
    let provider: Arc<dyn Provider> = if fast { Arc::new(scripted) } else { Arc::new(Paced::new(scripted)) };
    let info = Arc::new(ModelInfo::unknown("scripted"));
    let model = ResolvedModel { provider, model: "scripted".into(), info };
    Ok(ProvidedModel { name: "demo/scripted".into(), model })
}

/// Sends the prompt and shows the events of its run to the end; cancels it once `cancel` fires.
async fn follow(
    client: &dyn Client,
    cancel: &CancellationToken,
    mut on_event: impl FnMut(&Event),
) -> Result<(Arc<AgentOutput>, u64), DemoError> {
    let mut events = client.events(Subscription::after(0));
    client.send(Command::Prompt { content: vec![Content::text(PROMPT.trim())] }).await?;
    let (mut is_told, mut prompt_seq) = (false, 0);
    loop {
        let event = tokio::select! {
            biased;
            () = cancel.cancelled(), if !is_told => {
                is_told = true;
                client.send(Command::Cancel { child: None }).await?;
                continue;
            }
            event = events.next() => event.ok_or(DemoError::Lost)??,
        };
        on_event(&event);
        match &event.kind {
            AgentEvent::Message(MessageEvent::End { .. }) if prompt_seq == 0 => prompt_seq = event.seq,
            AgentEvent::Run(RunEvent::End { output }) => return Ok((Arc::clone(output), prompt_seq)),
            _ => {}
        }
    }
}
