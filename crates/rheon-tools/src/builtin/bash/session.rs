//! `BashSession`: what command lines of one session share: the folder, the background commands, the saved output.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_types::{ToolContext, ToolError, ToolResult};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::arguments::Run;
use super::jobs::{Job, Jobs};
use super::render;
use crate::process::{
    Capture, End, Ended, Environment, Output, OutputLimits, ShellLine, Spill, Spilled, Stop, run,
};
use crate::sandbox::Sandbox;
use crate::workspace::Workspace;

/// What a session of command lines needs.
#[derive(Debug, Clone)]
pub struct BashSettings {
    /// Where commands work.
    pub workspace: Workspace,
    /// How far they reach.
    pub sandbox: Sandbox,
    /// The variables they see.
    pub environment: Environment,
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
    folder: Mutex<PathBuf>,
    jobs: Mutex<Jobs>,
    saved: Mutex<VecDeque<Spilled>>,
}

/// Files with long output that are kept; the oldest goes first.
const SAVED_MAX: usize = 16;

/// How often a running command shows its output at most, and how much of it.
const SHOW_EVERY: Duration = Duration::from_millis(200);
const SHOWN_BYTES_MAX: usize = 4 * 1024;

impl BashSession {
    /// A session that begins in the root of the workspace.
    pub fn new(settings: BashSettings) -> Self {
        let folder = Mutex::new(settings.workspace.root().to_path_buf());
        Self { settings, folder, jobs: Mutex::default(), saved: Mutex::default() }
    }

    /// The folder in which the next command begins.
    pub fn folder(&self) -> PathBuf {
        lock(&self.folder).clone()
    }

    pub(super) async fn run(&self, arguments: Run, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let stop = Stop { timeout: Some(arguments.timeout()), cancel: context.cancel.clone() };
        let (line, note) = self.line(arguments.command);
        let capture = Mutex::new(Capture::new(self.settings.output.clone()));
        let mut shown_at = Instant::now();
        let show = |capture: &Mutex<Capture>| {
            if shown_at.elapsed() >= SHOW_EVERY {
                shown_at = Instant::now();
                context.update(ToolResult::text(lock(capture).latest(SHOWN_BYTES_MAX)));
            }
        };
        let ended = run(&line, self.settings.sandbox.launcher(), stop, &capture, show)
            .await
            .map_err(|error| ToolError::Failed(error.to_string()))?;
        let output = capture.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
        let mut text = render::output(&output);
        for note in note.into_iter().chain(self.carry(ended.folder.as_deref())) {
            text.push_str(&format!("[{note}]\n"));
        }
        text.push_str(&render::end(&ended));
        let details = render::details(&ended, &output, &self.folder());
        self.save(output);
        match ended.end {
            End::Finished => Ok(ToolResult::text(text).with_details(details)),
            End::TimedOut => Err(ToolError::TimedOut(text)),
            End::Cancelled => Err(ToolError::Cancelled(text)),
        }
    }

    pub(super) fn start(&self, arguments: Run) -> Result<ToolResult, ToolError> {
        let (line, _) = self.line(arguments.command);
        let capture = Capture::new(self.settings.output.clone());
        let mut jobs = lock(&self.jobs);
        if !jobs.make_room() {
            let problem = "too many background commands run; end one with bash_kill first";
            return Err(ToolError::Failed(problem.into()));
        }
        let job = Job::start(&line, self.settings.sandbox.launcher(), capture)
            .map_err(|error| ToolError::Failed(error.to_string()))?;
        let id = jobs.add(job);
        drop(jobs);
        let text = format!("started in the background as {id}; read with bash_output, end with bash_kill");
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
            Some(Err(error)) => Err(ToolError::Failed(error.to_string())),
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

    fn job_result(&self, id: &str, ended: &Ended, output: Output) -> ToolResult {
        let text = format!("{}{}", render::output(&output), render::end(ended));
        let mut details = render::details(ended, &output, &self.folder());
        if let Value::Object(fields) = &mut details {
            fields.extend([("id".into(), id.into()), ("running".into(), false.into())]);
        }
        self.save(output);
        ToolResult::text(text).with_details(details)
    }

    /// The next line, and a note if the folder of the last one is gone.
    fn line(&self, text: String) -> (ShellLine, Option<String>) {
        let mut folder = lock(&self.folder);
        let mut note = None;
        if !folder.is_dir() {
            let root = self.settings.workspace.root().to_path_buf();
            note = Some(format!("{} is gone; the command began in {}", folder.display(), root.display()));
            *folder = root;
        }
        (ShellLine { text, folder: folder.clone(), environment: self.settings.environment.clone() }, note)
    }

    /// Keeps the folder for the next line if it is in the workspace; else the root, and a note.
    fn carry(&self, ended_in: Option<&Path>) -> Option<String> {
        let ended_in = ended_in?;
        let workspace = &self.settings.workspace;
        let resolved = ended_in.to_str().and_then(|path| workspace.resolve(path).ok());
        let mut folder = lock(&self.folder);
        match resolved.filter(|resolved| resolved.inside && resolved.path.is_dir()) {
            Some(resolved) => {
                *folder = resolved.path;
                None
            }
            None => {
                *folder = workspace.root().to_path_buf();
                let (left, root) = (ended_in.display(), workspace.root().display());
                Some(format!("{left} is outside the workspace; the next command begins in {root}"))
            }
        }
    }

    /// Keeps the file with the whole output, and removes the oldest if there are too many.
    fn save(&self, output: Output) {
        let mut saved = lock(&self.saved);
        saved.extend(output.spilled);
        while saved.len() > SAVED_MAX {
            saved.pop_front();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
