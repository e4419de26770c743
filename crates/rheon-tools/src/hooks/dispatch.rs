//! `Dispatcher`: which hooks an event concerns, all of them run at once, and what they say together.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::join_all;
use rheon_policy::hooks::{
    CommandHook, HookEvent, HookExecution, HookFailurePolicy, HookSettings, expand_project_variables,
};
use rheon_policy::{Condition, PatternRoots, Workspace, mode_name};
use rheon_types::ToolCall;
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::hooks::answer::{Heard, Start, failed, hear};
use crate::hooks::callback::{HookCallbacks, ask};
use crate::hooks::context::{HookContext, HookEnvironment};
use crate::hooks::message::{HookMessage, Reporter};
use crate::hooks::reply::HookReply;
use crate::hooks::run::{Job, Program, run};

/// How many hooks run at once while somebody waits; the others queue.
const RUNNING_MAX: usize = 32;
/// How many run in the background; what comes on top is not run, and told.
pub(crate) const BACKGROUND_MAX: usize = 16;

/// What an event is about: what matchers and conditions look at.
#[derive(Clone, Copy)]
pub(crate) enum About<'a> {
    /// Nothing: matchers do not count.
    Nothing,
    /// Something with a name.
    Name(&'a str),
    /// A call of a tool.
    Call(&'a ToolCall),
}

/// Something that happens.
pub(crate) struct Occasion<'a> {
    pub(crate) event: HookEvent,
    pub(crate) about: About<'a>,
    /// What hooks are told besides the common fields.
    pub(crate) fields: Map<String, Value>,
}

pub(crate) struct Dispatcher {
    settings: HookSettings,
    context: HookContext,
    /// Where conditions look up paths; without it they hold.
    workspace: Option<Workspace>,
    surroundings: Arc<Surroundings>,
    background: Arc<Semaphore>,
    running: Semaphore,
    cancel: CancellationToken,
    /// What runs in the background ends with us.
    _end: DropGuard,
}

/// What a hook needs to run.
struct Surroundings {
    cwd: PathBuf,
    project: String,
    environment: HookEnvironment,
    reporter: Reporter,
    /// Called instead of a command, where hooks are functions of another program.
    callbacks: Option<Arc<dyn HookCallbacks>>,
}

impl Dispatcher {
    pub(crate) fn new(
        settings: HookSettings,
        context: HookContext,
        reporter: Reporter,
        callbacks: Option<Arc<dyn HookCallbacks>>,
    ) -> Self {
        let project = context.project.to_string_lossy().into_owned();
        let surroundings = Arc::new(Surroundings {
            cwd: context.cwd.clone(),
            environment: context.environment.clone(),
            project,
            reporter,
            callbacks,
        });
        let cancel = CancellationToken::new();
        Self {
            settings,
            workspace: Workspace::new(&context.cwd).ok(),
            context,
            surroundings,
            background: Arc::new(Semaphore::new(BACKGROUND_MAX)),
            running: Semaphore::new(RUNNING_MAX),
            _end: cancel.clone().drop_guard(),
            cancel,
        }
    }

    pub(crate) fn context(&self) -> &HookContext {
        &self.context
    }

    pub(crate) fn has(&self, event: HookEvent) -> bool {
        self.settings.has(event)
    }

    /// Runs every hook that `occasion` concerns, and waits for those that want it; what they say together.
    pub(crate) async fn fire(&self, occasion: Occasion<'_>) -> HookReply {
        let hooks = self.concerned(&occasion);
        if hooks.is_empty() {
            return HookReply::default();
        }
        let input = self.input(&occasion);
        let mut awaited = Vec::new();
        for hook in hooks {
            match hook.execution {
                HookExecution::Background => self.run_in_background(occasion.event, hook, &input),
                HookExecution::Foreground => {
                    awaited.push(self.run_in_foreground(occasion.event, hook, &input))
                }
            }
        }
        join_all(awaited).await.into_iter().fold(HookReply::default(), HookReply::and)
    }

    /// Runs every hook that `occasion` concerns; nobody waits.
    pub(crate) fn tell(&self, occasion: &Occasion<'_>) {
        let hooks = self.concerned(occasion);
        if hooks.is_empty() {
            return;
        }
        let input = self.input(occasion);
        for hook in hooks {
            self.run_in_background(occasion.event, hook, &input);
        }
    }

    /// Waits until nothing runs in the background.
    pub(crate) async fn idle(&self) {
        let all = u32::try_from(BACKGROUND_MAX).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        self.background.acquire_many(all).await.map(drop).unwrap_or_default();
    }

    /// The hooks that `occasion` concerns, each command once, with the strictest of what its copies say.
    fn concerned(&self, occasion: &Occasion<'_>) -> Vec<CommandHook> {
        let mut found: Vec<CommandHook> = Vec::new();
        let groups = self.settings.groups.iter().filter(|group| {
            group.event == occasion.event
                && match occasion.about {
                    About::Nothing => true,
                    About::Name(name) => group.matcher.matches(name),
                    About::Call(call) => group.matcher.matches_tool(call.name.as_str()),
                }
        });
        for hook in
            groups.flat_map(|group| &group.hooks).filter(|hook| self.condition_holds(hook, occasion.about))
        {
            match found.iter_mut().find(|known| known.is_same_command(hook)) {
                Some(known) => {
                    known.on_failure = known.on_failure.max(hook.on_failure);
                    known.execution = known.execution.max(hook.execution);
                    known.trusted_content =
                        known.trusted_content.take().or_else(|| hook.trusted_content.clone());
                }
                None => found.push(hook.clone()),
            }
        }
        found
    }

    /// Whether the hook's rule names the call. A rule that cannot be asked does not keep a hook from running.
    fn condition_holds(&self, hook: &CommandHook, about: About<'_>) -> bool {
        let Some(rule) = &hook.condition else { return true };
        let About::Call(call) = about else { return false };
        let places =
            PatternRoots { working_folder: self.context.cwd.clone(), home: self.context.home.clone() };
        match (Condition::new(rule.clone(), places), &self.workspace) {
            (Ok(condition), Some(workspace)) => {
                condition.holds(call.name.as_str(), &call.arguments, workspace)
            }
            (Err(_), _) | (_, None) => true,
        }
    }

    /// What hooks read.
    fn input(&self, occasion: &Occasion<'_>) -> Arc<[u8]> {
        let context = &self.context;
        let mut input = json!({
            "session_id": context.session_id.as_str(),
            "transcript_path": context.transcript_path.as_ref().map(|path| path.to_string_lossy()),
            "cwd": context.cwd.to_string_lossy(),
            "permission_mode": mode_name((context.permission_mode)()),
            "hook_event_name": occasion.event.name(),
        });
        if let Value::Object(input) = &mut input {
            input.extend(occasion.fields.clone());
        }
        format!("{input}\n").into_bytes().into()
    }

    async fn run_in_foreground(&self, event: HookEvent, hook: CommandHook, input: &[u8]) -> HookReply {
        // The semaphore is never closed; a hook runs in any case.
        let _permit = self.running.acquire().await;
        self.surroundings.run(event, &hook, input).await
    }

    fn run_in_background(&self, event: HookEvent, hook: CommandHook, input: &Arc<[u8]>) {
        let refuse = |problem: &str| {
            let heard = failed(problem.to_owned(), HookFailurePolicy::Allow);
            self.surroundings.report(event, &hook, &heard);
        };
        let Ok(handle) = Handle::try_current() else { return refuse("was not run: there is no runtime") };
        let Ok(permit) = Arc::clone(&self.background).try_acquire_owned() else {
            return refuse(&format!("was not run: {BACKGROUND_MAX} hooks run in the background already"));
        };
        let (surroundings, input) = (Arc::clone(&self.surroundings), Arc::clone(input));
        let cancel = self.cancel.clone();
        let task = async move {
            let _permit = permit;
            // What it says is no answer to anything.
            cancel
                .run_until_cancelled(surroundings.run(event, &hook, &input))
                .await
                .map(drop)
                .unwrap_or_default();
        };
        drop(handle.spawn(task));
    }
}

impl Surroundings {
    /// Runs one hook; what it says.
    async fn run(&self, event: HookEvent, hook: &CommandHook, input: &[u8]) -> HookReply {
        let heard = match broken_seal(hook).await {
            Some(problem) => failed(problem, HookFailurePolicy::Block),
            None => {
                let job = self.job(event, hook);
                let ended = match &self.callbacks {
                    Some(callbacks) => ask(&**callbacks, &hook.command, input, job.timeout).await,
                    None => run(&job, input).await,
                };
                hear(event, &ended, hook.on_failure)
            }
        };
        self.report(event, hook, &heard);
        heard.reply
    }

    fn job(&self, event: HookEvent, hook: &CommandHook) -> Job {
        // What the hook of a project names counts from the folder that was looked at, wherever the session works.
        let (folder, project) = match &hook.trusted_content {
            Some(trusted_content) => {
                (trusted_content.root.clone(), trusted_content.root.to_string_lossy().into_owned())
            }
            None => (self.cwd.clone(), self.project.clone()),
        };
        let program = match &hook.args {
            // The shell knows the project's folder by its variable.
            None => Program::Line(hook.command.clone()),
            Some(arguments) => {
                let arguments =
                    arguments.iter().map(|argument| expand_project_variables(argument, &project)).collect();
                Program::Exact(expand_project_variables(&hook.command, &project), arguments)
            }
        };
        let timeout = hook.timeout.unwrap_or_else(|| event.timeout());
        Job { program, folder, variables: self.environment.for_project(&project), timeout }
    }

    fn report(&self, event: HookEvent, hook: &CommandHook, heard: &Heard) {
        for (kind, text) in &heard.messages {
            let message = HookMessage { kind: *kind, event, command: hook.title(), text: text.clone() };
            match heard.start {
                Start::Ran => self.reporter.tell(&message),
                Start::Impossible => self.reporter.tell_once(&message),
            }
        }
    }
}

/// Why a hook of a project may not run: its files are not those that were trusted. Looked at right before each run.
async fn broken_seal(hook: &CommandHook) -> Option<String> {
    let trusted_content = Arc::clone(hook.trusted_content.as_ref()?);
    match tokio::task::spawn_blocking(move || trusted_content.check()).await {
        Ok(Ok(())) => None,
        Ok(Err(problem)) => Some(format!("was not run: {problem}")),
        Err(_) => Some("was not run: its files could not be looked at".to_owned()),
    }
}
