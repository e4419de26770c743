//! `Dispatcher`: finds the hooks for an event, runs them concurrently, and combines their replies.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures::future::join_all;
use rheon_policy::hooks::{
    CommandHook, HookEvent, HookExecution, HookFailurePolicy, HookSettings, expand_project_variables,
};
use rheon_policy::{Condition, PatternRoots, Workspace, mode_name};
use rheon_sandbox::process::{MARKER, kill_marked, next_marker};
use rheon_sandbox::{Level, Sandbox};
use rheon_types::ToolCall;
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::hooks::callback::{HookCallbacks, call_as_hook};
use crate::hooks::context::{HookContext, HookEnvironment, HookOwner};
use crate::hooks::interpret::{HookResult, Launch, failed, interpret};
use crate::hooks::message::{HookMessage, Reporter};
use crate::hooks::reply::HookReply;
use crate::hooks::run::{HookExit, ProcessSpec, Program, run};
use crate::hooks::sandboxed::run_sandboxed;

/// The most foreground hooks that run at once. The rest are queued.
const RUNNING_MAX: usize = 32;
/// The most background hooks. Further ones are not run, and the user is notified.
pub(crate) const BACKGROUND_MAX: usize = 16;

/// The subject of an event, which matchers and conditions are checked against.
#[derive(Clone, Copy)]
pub(crate) enum EventSubject<'a> {
    /// There is none, so matchers do not apply.
    None,
    Name(&'a str),
    Call(&'a ToolCall),
}

/// An event to run hooks for.
pub(crate) struct HookInvocation<'a> {
    pub(crate) event: HookEvent,
    pub(crate) subject: EventSubject<'a>,
    /// The input of hooks besides the common fields.
    pub(crate) fields: Map<String, Value>,
}

pub(crate) struct Dispatcher {
    settings: HookSettings,
    context: HookContext,
    /// Resolves paths in conditions. Without it all conditions match.
    workspace: Option<Workspace>,
    /// The prompt that is being processed.
    prompt_id: Mutex<Option<String>>,
    runner: Arc<HookRunner>,
    background: Arc<Semaphore>,
    running: Semaphore,
    cancel: CancellationToken,
    /// Stops background hooks when the dispatcher is dropped.
    _end: DropGuard,
}

/// Runs single hooks.
struct HookRunner {
    cwd: PathBuf,
    project: String,
    environment: HookEnvironment,
    reporter: Reporter,
    /// Called instead of commands if hooks are functions of another program.
    callbacks: Option<Arc<dyn HookCallbacks>>,
    /// Where a project's hooks run.
    sandbox: OnceLock<Sandbox>,
    /// Hooks that may have left processes running.
    left: Mutex<Vec<LeftProcesses>>,
}

/// What a hook may have left running.
struct LeftProcesses {
    event: HookEvent,
    /// A variable in the environment of all its processes.
    marker: String,
}

/// The most hooks whose processes are remembered.
const LEFT_MAX: usize = 10_000;

impl Dispatcher {
    pub(crate) fn new(
        settings: HookSettings,
        context: HookContext,
        reporter: Reporter,
        callbacks: Option<Arc<dyn HookCallbacks>>,
    ) -> Self {
        let project = context.project.to_string_lossy().into_owned();
        let runner = Arc::new(HookRunner {
            cwd: context.cwd.clone(),
            environment: context.environment.clone(),
            project,
            reporter,
            callbacks,
            sandbox: OnceLock::new(),
            left: Mutex::default(),
        });
        let cancel = CancellationToken::new();
        Self {
            settings,
            workspace: Workspace::new(&context.cwd).ok(),
            context,
            prompt_id: Mutex::default(),
            runner,
            background: Arc::new(Semaphore::new(BACKGROUND_MAX)),
            running: Semaphore::new(RUNNING_MAX),
            _end: cancel.clone().drop_guard(),
            cancel,
        }
    }

    /// Runs a project's hooks inside `sandbox`.
    pub(crate) fn set_sandbox(&self, sandbox: Sandbox) {
        // The first one stays.
        drop(self.runner.sandbox.set(sandbox));
    }

    /// Ends what hooks of a run left running. What runs since the start of the session, or tells the user something, ends
    /// with the session.
    pub(crate) fn end_left(&self) {
        self.runner.end_left(|event| !matches!(event, HookEvent::SessionStart | HookEvent::Notification));
    }

    /// The events that follow belong to this prompt.
    pub(crate) fn set_prompt_id(&self, id: String) {
        *self.prompt_id.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
    }

    pub(crate) fn context(&self) -> &HookContext {
        &self.context
    }

    pub(crate) fn has(&self, event: HookEvent) -> bool {
        self.settings.has(event)
    }

    /// Runs all matching hooks, waits for the foreground hooks, and combines their replies.
    pub(crate) async fn fire(&self, invocation: HookInvocation<'_>) -> HookReply {
        let hooks = self.matching_hooks(&invocation);
        if hooks.is_empty() {
            return HookReply::default();
        }
        let input = self.input(&invocation);
        let mut awaited = Vec::new();
        for hook in hooks {
            match hook.execution {
                HookExecution::Background => self.run_in_background(invocation.event, hook, &input),
                HookExecution::Foreground => {
                    awaited.push(self.run_in_foreground(invocation.event, hook, &input))
                }
            }
        }
        join_all(awaited).await.into_iter().fold(HookReply::default(), HookReply::and)
    }

    /// Runs all matching hooks in the background.
    pub(crate) fn fire_in_background(&self, invocation: &HookInvocation<'_>) {
        let hooks = self.matching_hooks(invocation);
        if hooks.is_empty() {
            return;
        }
        let input = self.input(invocation);
        for hook in hooks {
            self.run_in_background(invocation.event, hook, &input);
        }
    }

    /// Waits until no background hook runs.
    pub(crate) async fn idle(&self) {
        let all = u32::try_from(BACKGROUND_MAX).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        self.background.acquire_many(all).await.map(drop).unwrap_or_default();
    }

    /// The matching hooks, each command once, with the strictest settings of its duplicates.
    fn matching_hooks(&self, invocation: &HookInvocation<'_>) -> Vec<CommandHook> {
        let mut matching: Vec<CommandHook> = Vec::new();
        let groups = self.settings.groups.iter().filter(|group| {
            group.event == invocation.event
                && match invocation.subject {
                    EventSubject::None => true,
                    EventSubject::Name(name) => group.matcher.matches(name),
                    EventSubject::Call(call) => group.matcher.matches_tool(call.name.as_str()),
                }
        });
        for hook in groups
            .flat_map(|group| &group.hooks)
            .filter(|hook| self.condition_matches(hook, invocation.subject))
        {
            match matching.iter_mut().find(|known| known.is_same_command(hook)) {
                Some(known) => {
                    known.on_failure = known.on_failure.max(hook.on_failure);
                    known.execution = known.execution.max(hook.execution);
                    known.sandbox = Some(known.is_sandboxed() || hook.is_sandboxed());
                    known.trusted_content =
                        known.trusted_content.take().or_else(|| hook.trusted_content.clone());
                }
                None => matching.push(hook.clone()),
            }
        }
        matching
    }

    /// Whether the hook's rule matches the call. A hook with an invalid rule runs.
    fn condition_matches(&self, hook: &CommandHook, subject: EventSubject<'_>) -> bool {
        let Some(rule) = &hook.condition else { return true };
        let EventSubject::Call(call) = subject else { return false };
        let roots = PatternRoots { working_dir: self.context.cwd.clone(), home: self.context.home.clone() };
        match (Condition::new(rule.clone(), roots), &self.workspace) {
            (Ok(condition), Some(workspace)) => {
                condition.holds(call.name.as_str(), &call.arguments, workspace)
            }
            (Err(_), _) | (_, None) => true,
        }
    }

    /// The JSON that hooks read on stdin.
    fn input(&self, invocation: &HookInvocation<'_>) -> Arc<[u8]> {
        let context = &self.context;
        let facts = (context.facts)();
        let mut input = json!({
            "session_id": context.session_id.as_str(),
            "transcript_path": context.transcript_path.as_ref().map(|path| path.to_string_lossy()),
            "cwd": context.cwd.to_string_lossy(),
            "permission_mode": mode_name(facts.permission_mode),
            "hook_event_name": invocation.event.name(),
        });
        if let Value::Object(input) = &mut input {
            let prompt_id = self.prompt_id.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let effort = facts.effort().map(|level| json!({ "level": level }));
            let known = [
                ("model", facts.model.map(Value::String)),
                ("effort", effort),
                ("prompt_id", prompt_id.map(Value::String)),
            ];
            input.extend(known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
            input.extend(invocation.fields.clone());
        }
        format!("{input}\n").into_bytes().into()
    }

    async fn run_in_foreground(&self, event: HookEvent, hook: CommandHook, input: &[u8]) -> HookReply {
        // The semaphore is never closed; a hook runs in any case.
        let _permit = self.running.acquire().await;
        self.runner.run(event, &hook, input).await
    }

    fn run_in_background(&self, event: HookEvent, hook: CommandHook, input: &Arc<[u8]>) {
        let reject_hook = |problem: &str| {
            let result = failed(problem.to_owned(), HookFailurePolicy::Allow);
            self.runner.report(event, &hook, &result);
        };
        let Ok(handle) = Handle::try_current() else {
            return reject_hook("was not run: no tokio runtime");
        };
        let Ok(permit) = Arc::clone(&self.background).try_acquire_owned() else {
            return reject_hook(&format!(
                "was not run: {BACKGROUND_MAX} hooks are already running in the background"
            ));
        };
        let (runner, input) = (Arc::clone(&self.runner), Arc::clone(input));
        let cancel = self.cancel.clone();
        let task = async move {
            let _permit = permit;
            // Nothing waits for its reply.
            cancel.run_until_cancelled(runner.run(event, &hook, &input)).await.map(drop).unwrap_or_default();
        };
        drop(handle.spawn(task));
    }
}

impl HookRunner {
    /// Runs one hook and returns its reply.
    async fn run(&self, event: HookEvent, hook: &CommandHook, input: &[u8]) -> HookReply {
        // A hook that cannot run must not keep a run from ending.
        let is_end = matches!(event, HookEvent::Stop | HookEvent::SubagentStop);
        let result = match seal_problem(hook).await {
            Some(problem) if is_end => failed(problem, HookFailurePolicy::Allow),
            Some(problem) => failed(problem, HookFailurePolicy::Block),
            None => {
                let spec = self.spec(event, hook);
                let exit = match &self.callbacks {
                    Some(callbacks) => call_as_hook(&**callbacks, &hook.command, input, spec.timeout).await,
                    None => self.run_process(event, hook, &spec, input).await,
                };
                let result = interpret(event, &exit, hook.on_failure);
                match result.launch {
                    Launch::NotStarted if is_end => interpret(event, &exit, HookFailurePolicy::Allow),
                    Launch::NotStarted | Launch::Started => result,
                }
            }
        };
        self.report(event, hook, &result);
        result.reply
    }

    async fn run_process(
        &self,
        event: HookEvent,
        hook: &CommandHook,
        spec: &ProcessSpec,
        input: &[u8],
    ) -> HookExit {
        let sandbox = self.sandbox.get().filter(|sandbox| sandbox.level() != Level::None);
        if let Some(sandbox) = sandbox.filter(|_| hook.is_sandboxed()) {
            return run_sandboxed(spec, input, sandbox).await;
        }
        let marker = next_marker();
        {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            if left.len() < LEFT_MAX {
                left.push(LeftProcesses { event, marker: format!("{MARKER}={marker}") });
            }
        }
        run(spec, input, &marker).await
    }

    /// Ends what hooks of these events left running.
    fn end_left(&self, is_ended: impl Fn(HookEvent) -> bool) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let ended: Vec<String> = left.extract_if(.., |it| is_ended(it.event)).map(|it| it.marker).collect();
        drop(left);
        kill_marked(&ended);
    }

    fn spec(&self, event: HookEvent, hook: &CommandHook) -> ProcessSpec {
        // A project's hook resolves paths from the directory that was trusted, wherever the session works.
        let (dir, project) = match &hook.trusted_content {
            Some(trusted_content) => {
                (trusted_content.root.clone(), trusted_content.root.to_string_lossy().into_owned())
            }
            None => (self.cwd.clone(), self.project.clone()),
        };
        let program = match &hook.args {
            // The shell gets the project directory as an environment variable.
            None => Program::ShellLine(hook.command.clone()),
            Some(arguments) => {
                let arguments =
                    arguments.iter().map(|argument| expand_project_variables(argument, &project)).collect();
                Program::Executable(expand_project_variables(&hook.command, &project), arguments)
            }
        };
        let timeout = hook.timeout.unwrap_or_else(|| event.timeout());
        let is_own = hook.trusted_content.is_none() && !hook.is_sandboxed();
        let owner = if is_own { HookOwner::User } else { HookOwner::Project };
        ProcessSpec { program, dir, variables: self.environment.of_hook(owner, &project), timeout }
    }

    fn report(&self, event: HookEvent, hook: &CommandHook, result: &HookResult) {
        for (kind, text) in &result.messages {
            let message = HookMessage { kind: *kind, event, command: hook.title(), text: text.clone() };
            match result.launch {
                Launch::Started => self.reporter.report(&message),
                Launch::NotStarted => self.reporter.report_once(&message),
            }
        }
    }
}

impl Drop for HookRunner {
    fn drop(&mut self) {
        self.end_left(|_| true);
    }
}

/// Why a project's hook may not run: its files are not the trusted ones. Checked before each run.
async fn seal_problem(hook: &CommandHook) -> Option<String> {
    let trusted_content = Arc::clone(hook.trusted_content.as_ref()?);
    match tokio::task::spawn_blocking(move || trusted_content.check()).await {
        Ok(Ok(())) => None,
        Ok(Err(problem)) => Some(format!("was not run: {problem}")),
        Err(_) => Some("was not run: its files could not be checked".to_owned()),
    }
}
