//! `BashSession`: what command lines of one session share: the folder, the background commands, the saved output.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_policy::{ShellDirectory, ShellFacts, Workspace};
use rheon_sandbox::process::{
    Capture, EndReason, Output, OutputLimits, ProcessEnvironment, ProcessError, ProcessOutcome, ShellLine,
    Spill, SpillFile, StopCondition, run,
};
use rheon_sandbox::{Level, Sandbox, TemporaryDirectory};
use rheon_types::{ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::folders::Folders;
use super::jobs::{Job, Jobs};
use super::render;
use super::repository;

/// What a session of command lines needs.
#[derive(Debug, Clone)]
pub struct BashSettings {
    /// Where commands work.
    pub workspace: Workspace,
    /// How far they reach.
    pub sandbox: Sandbox,
    /// The variables they see.
    pub environment: ProcessEnvironment,
    /// How much of their output is kept, and where the rest goes.
    pub output: OutputLimits,
}

impl BashSettings {
    /// Keeps 24 KiB of the beginning and 8 KiB of the end; up to 64 MiB of longer output goes to files in `folder`.
    pub fn output_in(folder: impl Into<PathBuf>) -> OutputLimits {
        let spill = Spill { folder: folder.into(), bytes_max: 64 * 1024 * 1024 };
        OutputLimits { head_bytes: 24 * 1024, tail_bytes: 8 * 1024, spill: Some(spill) }
    }
}

/// What command lines of one session share. Background commands end when it is dropped.
pub struct BashSession {
    settings: BashSettings,
    description: String,
    folders: Folders,
    /// Held while a command runs in the foreground, so that each begins where the one before it ended. Those that wait
    /// get it in the order in which they came.
    turn: tokio::sync::Mutex<()>,
    jobs: Mutex<Jobs>,
    saved: Mutex<VecDeque<SpillFile>>,
    /// Where long output goes, unless that belongs to somebody else.
    _kept: Option<TemporaryDirectory>,
}

/// What the model says: a command line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) command: String,
    /// 120000 unless given.
    #[schemars(range(min = 1, max = 600_000))]
    pub(super) timeout_ms: Option<u64>,
    /// Return an id at once.
    pub(super) background: Option<bool>,
    /// What it does, for the user.
    #[expect(dead_code, reason = "it is shown by user interfaces, which read it in the call")]
    pub(super) description: Option<String>,
}

const TIMEOUT_MS: u64 = 120_000;
const TIMEOUT_MS_MAX: u64 = 600_000;

impl Run {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.unwrap_or(TIMEOUT_MS).clamp(1, TIMEOUT_MS_MAX))
    }
}

/// Files with long output that are kept; the oldest goes first.
const SAVED_MAX: usize = 16;

/// How often a running command shows its output at most, and how much of it.
const SHOW_EVERY: Duration = Duration::from_millis(200);
const SHOWN_BYTES_MAX: usize = 4 * 1024;

impl BashSession {
    /// A session that begins in the root of the workspace.
    pub fn new(settings: BashSettings) -> Self {
        let description = description(settings.sandbox.level());
        let folders = Folders::new(settings.workspace.clone());
        let turn = tokio::sync::Mutex::default();
        let (jobs, saved) = (Mutex::default(), Mutex::default());
        Self { settings, description, folders, turn, jobs, saved, _kept: None }
    }

    /// The same, with a folder for long output that goes with it.
    pub(crate) fn keeping(mut self, folder: TemporaryDirectory) -> Self {
        self._kept = Some(folder);
        self
    }

    /// The folder in which the next command begins.
    pub fn folder(&self) -> PathBuf {
        self.folders.next().current()
    }

    /// The same, to be looked at whenever a call is judged. A call that was judged for another folder than the one in which it
    /// would begin is refused; one that was not judged begins wherever the last one ended.
    pub fn shell_folder(&self) -> ShellDirectory {
        self.folders.next().clone()
    }

    /// How far commands reach.
    pub fn sandbox(&self) -> &Sandbox {
        &self.settings.sandbox
    }

    /// What the model reads of `bash`: what is weaker on this machine is said.
    pub(super) fn description(&self) -> &str {
        &self.description
    }

    pub(super) async fn run(&self, arguments: Run, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let stop = StopCondition { timeout: Some(arguments.timeout()), cancel: context.cancel.clone() };
        let _turn = self.turn(context).await?;
        let known = known(context, &arguments.command)?;
        let (line, note) = self.line(arguments.command, known)?;
        let capture = Mutex::new(Capture::new(self.settings.output.clone()));
        let mut shown: Option<(Instant, u64)> = None;
        let show = |capture: &Mutex<Capture>| {
            let capture = lock(capture);
            let is_due =
                shown.is_none_or(|(at, bytes)| at.elapsed() >= SHOW_EVERY && bytes < capture.bytes());
            if is_due && capture.bytes() > 0 {
                shown = Some((Instant::now(), capture.bytes()));
                context.update(ToolResult::text(capture.latest(SHOWN_BYTES_MAX)));
            }
        };
        let (launcher, repository) =
            repository::launcher(&self.settings.sandbox, &line.text, known.map(|known| &known.analysis));
        let ended = run(&line, launcher, stop, &capture, show).await;
        let output = capture.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
        let ended = ended.map_err(|error| self.not_run(&error, &output.head))?;
        let mut text = render::output(&output);
        let advice = repository.advice(self.settings.sandbox.level(), &ended, &output);
        for note in note.into_iter().chain(advice).chain(self.folders.carry(ended.folder.as_deref())) {
            text.push_str(&format!("[{note}]\n"));
        }
        text.push_str(&render::end(&ended));
        let details = self.details(&ended, &output);
        self.save(output);
        match ended.end {
            EndReason::Finished => Ok(ToolResult::text(text).with_details(details)),
            EndReason::TimedOut => Err(ToolError::TimedOut(text)),
            EndReason::Canceled => Err(ToolError::Cancelled(text)),
        }
    }

    pub(super) async fn start(&self, arguments: Run, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let _turn = self.turn(context).await?;
        let known = known(context, &arguments.command)?;
        let (line, note) = self.line(arguments.command, known)?;
        let capture = Capture::new(self.settings.output.clone());
        let mut jobs = lock(&self.jobs);
        if !jobs.make_room() {
            let problem = "too many background commands run; end one with bash_kill first";
            return Err(ToolError::Failed(problem.into()));
        }
        // A repository stays closed to what may run for hours: whoever changes its settings meanwhile would open them to it.
        let job = Job::start(&line, self.settings.sandbox.launcher(), capture)
            .map_err(|error| self.not_run(&error, ""))?;
        let id = jobs.add(job);
        drop(jobs);
        let note = note.map_or(String::new(), |note| format!("[{note}]\n"));
        let text =
            format!("{note}started in the background as {id}; read with bash_output, end with bash_kill");
        Ok(ToolResult::text(text).with_details(json!({ "id": id, "running": true })))
    }

    pub(super) fn output(&self, id: &str) -> Result<ToolResult, ToolError> {
        let job = self.job(id)?;
        // Asked for first: whatever was printed before the end is then in the output.
        let outcome = job.outcome();
        let output = job.take_output();
        match outcome {
            None => {
                let text = format!("{}{id} is still running", render::output(&output));
                let details = json!({ "id": id, "running": true, "output_bytes": output.bytes });
                self.save(output);
                Ok(ToolResult::text(text).with_details(details))
            }
            Some(Ok(ended)) => Ok(self.job_result(id, &ended, output)),
            Some(Err(error)) => Err(self.not_run(&error, &output.head)),
        }
    }

    pub(super) async fn kill(&self, id: &str) -> Result<ToolResult, ToolError> {
        self.job(id)?.kill().await;
        self.output(id)
    }

    fn job(&self, id: &str) -> Result<std::sync::Arc<Job>, ToolError> {
        let jobs = lock(&self.jobs);
        jobs.get(id).ok_or_else(|| {
            let known = jobs.ids();
            let known = if known.is_empty() { "there is none".into() } else { known.join(", ") };
            ToolError::Failed(format!("there is no background command {id:?}; known: {known}"))
        })
    }

    fn job_result(&self, id: &str, ended: &ProcessOutcome, output: Output) -> ToolResult {
        let text = format!("{}{}", render::output(&output), render::end(ended));
        let mut details = self.details(ended, &output);
        if let Value::Object(fields) = &mut details {
            fields.extend([("id".into(), id.into()), ("running".into(), false.into())]);
        }
        self.save(output);
        ToolResult::text(text).with_details(details)
    }

    /// What to say of a command that was not run. If the sandbox may be why, what is remembered of it counts no longer: the
    /// next session tries anew what holds. Nothing is ever run without it instead.
    fn not_run(&self, error: &ProcessError, output: &str) -> ToolError {
        let problem = match error {
            ProcessError::TooLong { .. } | ProcessError::ZeroByte | ProcessError::Lost => error.to_string(),
            ProcessError::Restrict(_) | ProcessError::Start { .. } => {
                self.settings.sandbox.forget();
                error.to_string()
            }
            ProcessError::NotBegun { .. } => {
                self.settings.sandbox.forget();
                let level = self.settings.sandbox.level();
                let said = output.trim();
                format!(
                    "{error}; the sandbox ({level}) said {said:?}; a new session finds out anew what holds"
                )
            }
        };
        ToolError::Failed(problem)
    }

    /// Waits until the commands that were called before have ended.
    async fn turn(&self, context: &ToolContext) -> Result<tokio::sync::MutexGuard<'_, ()>, ToolError> {
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(ToolError::Cancelled("not run, because it was cancelled".into())),
            turn = self.turn.lock() => Ok(turn),
        }
    }

    /// The next line, and a note if it does not begin where the last one ended.
    fn line(
        &self,
        text: String,
        known: Option<&ShellFacts>,
    ) -> Result<(ShellLine, Option<String>), ToolError> {
        let (folder, note) = self.folders.begin(known.and_then(|known| known.folder.as_deref()))?;
        Ok((ShellLine { text, folder, environment: self.settings.environment.clone() }, note))
    }

    fn details(&self, ended: &ProcessOutcome, output: &Output) -> Value {
        let mut details = render::details(ended, output, &self.folder());
        if let Value::Object(fields) = &mut details {
            fields.insert("sandbox".into(), self.settings.sandbox.level().to_string().into());
        }
        details
    }

    /// Keeps the file with the whole output, and removes the oldest if there are too many.
    fn save(&self, output: Output) {
        let mut saved = lock(&self.saved);
        saved.extend(output.spill_file);
        while saved.len() > SAVED_MAX {
            saved.pop_front();
        }
    }
}

/// What the gate found out about the line, if one was asked.
fn known<'a>(context: &'a ToolContext, line: &str) -> Result<Option<&'a ShellFacts>, ToolError> {
    match context.facts.get::<ShellFacts>() {
        Some(known) if known.line != line => {
            Err(ToolError::Denied("not run: another line was checked than this one; call it again".into()))
        }
        known => Ok(known),
    }
}

fn description(level: Level) -> String {
    let weakness = match level {
        Level::Namespaces => "",
        Level::Landlock => include_str!("weak_landlock.md"),
        Level::None => include_str!("weak_none.md"),
    };
    format!("{}{}", include_str!("../bash.md").trim_end(), weakness.trim_end())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
