//! `BashSession`: the state that commands of one session share: working directory, background commands, saved output.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_policy::shell::only_reads;
use rheon_policy::{ShellDirectory, ShellFacts, Workspace};
use rheon_sandbox::process::{
    Capture, EndReason, Output, OutputLimits, ProcessEnvironment, ProcessError, ProcessOutcome, ShellLine,
    Spill, SpillFile, StopCondition, run,
};
use rheon_sandbox::{Level, Sandbox, SandboxCall, TemporaryDirectory};
use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::{ToolContext, ToolError, ToolFact, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::jobs::{Job, Jobs};
use super::refusal;
use super::render;
use super::repository;
use super::working_dir::WorkingDir;

/// The settings of a [`BashSession`].
#[derive(Debug, Clone)]
pub struct BashSettings {
    pub workspace: Workspace,
    pub sandbox: Sandbox,
    /// The environment variables of commands.
    pub environment: ProcessEnvironment,
    /// How much output is kept, and where the rest goes.
    pub output: OutputLimits,
}

impl BashSettings {
    /// Keeps the first 24 KiB and the last 8 KiB of output. Longer output, up to 64 MiB, goes to files in `dir`.
    pub fn output_limits(dir: impl Into<PathBuf>) -> OutputLimits {
        let spill = Spill { dir: dir.into(), bytes_max: 64 * 1024 * 1024 };
        OutputLimits { head_bytes: 24 * 1024, tail_bytes: 8 * 1024, spill: Some(spill) }
    }
}

/// The state that commands of one session share. Background commands stop when it is dropped.
pub struct BashSession {
    settings: BashSettings,
    description: String,
    working_dir: WorkingDir,
    /// Held while a foreground command runs, so that each starts where the previous one ended; commands that only read
    /// hold a share of it. Waiting commands get it in order.
    foreground: Semaphore,
    jobs: Mutex<Jobs>,
    saved_outputs: Mutex<VecDeque<SpillFile>>,
    /// The directory for long output, if this session owns it.
    _output_dir: Option<TemporaryDirectory>,
}

/// The arguments of `bash`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BashArguments {
    pub(super) command: String,
    /// 120000 unless given.
    #[schemars(range(min = 1, max = 600_000))]
    pub(super) timeout_ms: Option<u64>,
    /// Return an id immediately.
    pub(super) background: Option<bool>,
    /// What it does, for the user.
    #[expect(dead_code, reason = "user interfaces show it")]
    pub(super) description: Option<String>,
}

const TIMEOUT_MS: u64 = 120_000;
const TIMEOUT_MS_MAX: u64 = 600_000;

impl BashArguments {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.unwrap_or(TIMEOUT_MS).clamp(1, TIMEOUT_MS_MAX))
    }
}

/// The most files with long output. The oldest is removed first.
const SAVED_OUTPUTS_MAX: usize = 16;

/// The shortest interval between updates of a running command, and the most output of each.
const SHOW_EVERY: Duration = Duration::from_millis(200);
const SHOWN_BYTES_MAX: usize = 4 * 1024;

/// How many commands that only read run together.
const TOGETHER_MAX: u32 = 8;

/// A command that only reads runs together with others of its kind. Only the gate's analysis says so.
fn share_of(context: &ToolContext) -> u32 {
    let facts = context.facts.get::<ShellFacts>();
    if facts.is_some_and(|facts| only_reads(&facts.analysis)) { 1 } else { TOGETHER_MAX }
}

impl BashSession {
    pub fn new(settings: BashSettings) -> Self {
        let description = description(settings.sandbox.level());
        let working_dir = WorkingDir::new(settings.workspace.clone());
        let foreground = Semaphore::new(TOGETHER_MAX as usize);
        let (jobs, saved_outputs) = (Mutex::default(), Mutex::default());
        Self { settings, description, working_dir, foreground, jobs, saved_outputs, _output_dir: None }
    }

    /// Owns the directory for long output, which is removed with the session.
    pub(crate) fn with_output_dir(mut self, dir: TemporaryDirectory) -> Self {
        self._output_dir = Some(dir);
        self
    }

    /// The directory in which the next command starts.
    pub fn working_dir(&self) -> PathBuf {
        self.working_dir.next().current()
    }

    /// The same as a shared value, read by the gate for each call. A call that was checked for another directory than
    /// the one it would start in is denied; an unchecked call starts wherever the last one ended.
    pub fn shell_dir(&self) -> ShellDirectory {
        self.working_dir.next().clone()
    }

    pub fn sandbox(&self) -> &Sandbox {
        &self.settings.sandbox
    }

    /// The description of `bash`. Says so if the sandbox of this machine is weak.
    pub(super) fn description(&self) -> &str {
        &self.description
    }

    pub(super) async fn run(
        &self,
        arguments: BashArguments,
        context: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        let stop = StopCondition { timeout: Some(arguments.timeout()), cancel: context.cancel.clone() };
        let _foreground = self.foreground(context, share_of(context)).await?;
        let facts = checked_facts(context, &arguments.command)?;
        let (line, note) = self.line(arguments.command, facts)?;
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
        let sandbox = self.sandbox_call(context)?;
        let (launcher, repository) =
            repository::launcher(&sandbox, &line.text, facts.map(|facts| &facts.analysis));
        let ended = run(&line, launcher, stop, &capture, show).await;
        let output = capture.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
        let ended = ended.map_err(|error| self.not_run_error(&error, &output.head))?;
        let mut text = render::output(&output);
        let shown_bytes = text.len();
        let advice = repository.advice(sandbox.level(), &ended, &output);
        let refused = self.refused(&ended, &output, context, facts).filter(|_| advice.is_none());
        let contacts = sandbox.contacts();
        let notes = note.into_iter().chain(advice).chain(refused).chain(render::refused_hosts(&contacts));
        let notes = notes.chain(name_notes(&sandbox, context));
        for note in notes.chain(self.working_dir.finish_in(ended.dir.as_deref())) {
            text.push_str(&format!("[{note}]\n"));
        }
        text.push_str(&render::status(&ended));
        let details = self.details(&ended, &output, shown_bytes, &sandbox);
        self.save(output);
        match ended.end {
            EndReason::Finished => Ok(ToolResult::text(text).with_details(details)),
            EndReason::TimedOut => Err(ToolError::TimedOut(text)),
            EndReason::Canceled => Err(ToolError::Cancelled(text)),
        }
    }

    /// The note for the model about a command that failed because of the sandbox. The same command asks the next time.
    fn refused(
        &self,
        ended: &ProcessOutcome,
        output: &Output,
        context: &ToolContext,
        facts: Option<&ShellFacts>,
    ) -> Option<String> {
        let facts = facts?;
        let root = self.settings.workspace.root();
        let is_held = self.settings.sandbox.level() != Level::None;
        match refusal::lacked(ended, output, &context.grant, root).filter(|_| is_held) {
            Some(lacked) => {
                let advice = refusal::advice(&lacked);
                facts.refusals.add(&facts.line, lacked);
                Some(advice)
            }
            None => {
                facts.refusals.remove(&facts.line);
                None
            }
        }
    }

    pub(super) async fn start(
        &self,
        arguments: BashArguments,
        context: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        let _foreground = self.foreground(context, TOGETHER_MAX).await?;
        let facts = checked_facts(context, &arguments.command)?;
        let (line, note) = self.line(arguments.command, facts)?;
        let capture = Capture::new(self.settings.output.clone());
        let mut jobs = lock(&self.jobs);
        if !jobs.make_room() {
            let problem = "too many background commands; stop one with bash_kill first";
            return Err(ToolError::Failed(problem.into()));
        }
        // The repository stays closed to background commands: its config could change while they run, which would then
        // be open to them.
        let job = Job::start(&line, self.sandbox_call(context)?, capture)
            .map_err(|error| self.not_run_error(&error, ""))?;
        let id = jobs.add(job);
        drop(jobs);
        let note = note.map_or(String::new(), |note| format!("[{note}]\n"));
        let text = format!(
            "{note}started in the background as {id}; read its output with bash_output, stop it with bash_kill"
        );
        Ok(ToolResult::text(text).with_details(json!({ "id": id, "running": true })))
    }

    pub(super) fn output(&self, id: &str, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let job = self.job(id)?;
        let notes: String =
            name_notes(job.sandbox(), context).iter().map(|note| format!("[{note}]\n")).collect();
        // Read first: everything printed before the exit is then in the output.
        let outcome = job.outcome();
        let output = job.take_output();
        match outcome {
            None => {
                let text = format!("{}{notes}{id} is still running", render::output(&output));
                let details = json!({ "id": id, "running": true, "output_bytes": output.bytes });
                self.save(output);
                Ok(ToolResult::text(text).with_details(details))
            }
            Some(Ok(ended)) => Ok(self.job_result(&job, id, &ended, output, &notes)),
            Some(Err(error)) => Err(self.not_run_error(&error, &output.head)),
        }
    }

    pub(super) async fn kill(&self, id: &str, context: &ToolContext) -> Result<ToolResult, ToolError> {
        self.job(id)?.kill().await;
        self.output(id, context)
    }

    fn job(&self, id: &str) -> Result<std::sync::Arc<Job>, ToolError> {
        let jobs = lock(&self.jobs);
        jobs.get(id).ok_or_else(|| {
            let ids = jobs.ids();
            let known = if ids.is_empty() { "none".into() } else { ids.join(", ") };
            ToolError::Failed(format!("no background command {id:?}; known: {known}"))
        })
    }

    fn job_result(
        &self,
        job: &Job,
        id: &str,
        ended: &ProcessOutcome,
        output: Output,
        notes: &str,
    ) -> ToolResult {
        let sandbox = job.sandbox();
        let mut text = render::output(&output);
        let shown_bytes = text.len();
        text.push_str(notes);
        if let Some(note) = render::refused_hosts(&sandbox.contacts()) {
            text.push_str(&format!("[{note}]\n"));
        }
        text.push_str(&render::status(ended));
        let mut details = self.details(ended, &output, shown_bytes, sandbox);
        if let Value::Object(fields) = &mut details {
            fields.extend([("id".into(), id.into()), ("running".into(), false.into())]);
        }
        self.save(output);
        ToolResult::text(text).with_details(details)
    }

    /// The error for a command that was not run. If the sandbox may be the cause, its cached probe is dropped and the
    /// next session probes again. A command is never run unsandboxed instead.
    fn not_run_error(&self, error: &ProcessError, output: &str) -> ToolError {
        let problem = match error {
            ProcessError::TooLong { .. } | ProcessError::ZeroByte | ProcessError::Lost => error.to_string(),
            ProcessError::Start { .. } => {
                self.settings.sandbox.forget();
                error.to_string()
            }
            ProcessError::NotBegun { .. } => {
                self.settings.sandbox.forget();
                let level = self.settings.sandbox.level();
                let message = output.trim();
                format!(
                    "{error}; the sandbox ({level}) printed {message:?}; start a new session to probe the sandbox again"
                )
            }
        };
        ToolError::Failed(problem)
    }

    /// The sandbox of one call, with what it was granted.
    fn sandbox_call(&self, context: &ToolContext) -> Result<SandboxCall, ToolError> {
        let call = self.settings.sandbox.call(&context.grant);
        call.map_err(|error| ToolError::Failed(format!("cannot prepare the sandbox of the command: {error}")))
    }

    /// Waits for the commands that were called before, unless all of them only read.
    async fn foreground(&self, context: &ToolContext, share: u32) -> Result<SemaphorePermit<'_>, ToolError> {
        let cancelled = || ToolError::Cancelled("cancelled before it ran".into());
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(cancelled()),
            foreground = self.foreground.acquire_many(share) => foreground.map_err(|_| cancelled()),
        }
    }

    /// The next command, and a note if it does not start where the last one ended.
    fn line(
        &self,
        text: String,
        facts: Option<&ShellFacts>,
    ) -> Result<(ShellLine, Option<String>), ToolError> {
        let (dir, note) = self.working_dir.start(facts.and_then(|facts| facts.dir.as_deref()))?;
        Ok((ShellLine { text, dir, environment: self.settings.environment.clone() }, note))
    }

    /// The details of a result whose text starts with `shown_bytes` of output.
    fn details(
        &self,
        ended: &ProcessOutcome,
        output: &Output,
        shown_bytes: usize,
        sandbox: &SandboxCall,
    ) -> Value {
        let mut details = render::details(ended, output, &self.working_dir());
        if let Value::Object(fields) = &mut details {
            fields.insert("shown_bytes".into(), shown_bytes.into());
            fields.insert("sandbox".into(), sandbox.level().to_string().into());
            let contacts = sandbox.contacts();
            if !contacts.is_empty() {
                fields.insert("hosts".into(), render::hosts(&contacts));
            }
        }
        details
    }

    /// Keeps the file with the full output, and removes the oldest if there are too many.
    fn save(&self, output: Output) {
        let mut saved_outputs = lock(&self.saved_outputs);
        saved_outputs.extend(output.spill_file);
        while saved_outputs.len() > SAVED_OUTPUTS_MAX {
            saved_outputs.pop_front();
        }
    }
}

/// What happened to protected names that commands created, for the model; the user gets a notice.
fn name_notes(sandbox: &SandboxCall, context: &ToolContext) -> Vec<String> {
    let notes: Vec<String> = sandbox.take_name_reports().iter().map(ToString::to_string).collect();
    for note in &notes {
        context.record(ToolFact::Notice(Notice::warning(NoticeTopic::Sandbox, note.clone())));
    }
    notes
}

/// The gate's facts about this command, if there was a gate.
fn checked_facts<'a>(context: &'a ToolContext, line: &str) -> Result<Option<&'a ShellFacts>, ToolError> {
    match context.facts.get::<ShellFacts>() {
        Some(facts) if facts.line != line => {
            Err(ToolError::Denied("not run: a different command was checked; call it again".into()))
        }
        facts => Ok(facts),
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
