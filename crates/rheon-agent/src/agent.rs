//! `Agent`: a conversation that can be run, observed, steered and stopped from any number of handles.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use rheon_types::{
    AgentEvent, AgentId, AgentMessage, AgentOutput, ChildMessageTime, ContinuationKind, History, Message,
    OutputSchema, Provider, RunId, SessionId, Store, ThinkingLevel, WindowCut,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::config::RunConfig;
use crate::context::{repair_calls, rewind_to_prompt};
use crate::control::ApproverGuard;
use crate::conversation::Conversation;
use crate::error::{AgentError, ChildError};
use crate::live::{Identity, Run, RunEnding, RunLog};
use crate::log::{EventLog, EventQueue, EventSubscription, LogPosition, Observers};
use crate::panics::panic_text;
use crate::prompt::Prompt;
use crate::run::{Start, drive};
use crate::state::Shared;
use crate::stream::{RunHandle, RunStream};
use crate::user_call::UserCall;

/// An agent. Clones are handles to the same one, so it can be steered while it runs.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    agent_id: AgentId,
    /// The initial configuration.
    config: Arc<RunConfig>,
    /// The configuration from the next run on, if the model or thinking level was changed.
    next_config: Mutex<Option<Arc<RunConfig>>>,
    observers: Observers,
    store: Option<Arc<dyn Store>>,
    shared: Arc<Mutex<Shared>>,
    session: Mutex<Session>,
    origin: Origin,
}

struct Session {
    log: EventLog,
    runs: usize,
    last_run_id: Option<RunId>,
    last_active: Option<Duration>,
    running: Option<Running>,
}

#[derive(Clone)]
struct Running {
    cancel: CancellationToken,
    ending: Arc<RunEnding>,
    /// Fires once all hooks have been notified of the end.
    settled: CancellationToken,
}

/// The parts of an agent.
pub(crate) struct Parts {
    pub(crate) config: RunConfig,
    pub(crate) observers: Observers,
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) agent_id: Option<AgentId>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) history: History,
    pub(crate) cuts: Vec<WindowCut>,
    pub(crate) position: LogPosition,
    pub(crate) origin: Origin,
}

/// Where an agent's runs come from.
#[derive(Default)]
pub(crate) struct Origin {
    /// The parent run.
    pub(crate) parent_run_id: Option<RunId>,
    pub(crate) metadata: Option<Arc<Value>>,
}

impl Agent {
    pub(crate) fn new(parts: Parts) -> Self {
        let config = Arc::new(parts.config);
        let roll = || [config.random.next_u64(), config.random.next_u64()];
        let now = config.clock.now();
        let agent_id = parts.agent_id.unwrap_or_else(|| AgentId::generate(now, roll()));
        let session_id = parts.session_id.unwrap_or_else(|| SessionId::generate(now, roll()));
        let clock = Arc::clone(&config.clock);
        let runs = parts.position.run_counts.values().sum();
        let (store, observers) = (parts.store.clone(), parts.observers.clone());
        // A resumed log already contains the conversation; otherwise the first run records it.
        let is_logged = parts.position.seq > 0;
        let log = EventLog::resume(session_id, clock, store, observers, parts.position);
        let log = if is_logged { log.with_window(&parts.history, &parts.cuts) } else { log };
        let conversation = Conversation::repaired(&parts.history, parts.cuts, now);
        let inner = Inner {
            agent_id,
            config,
            next_config: Mutex::default(),
            observers: parts.observers,
            store: parts.store,
            shared: Arc::new(Mutex::new(conversation.into())),
            session: Mutex::new(Session { runs, ..Session::new(log) }),
            origin: parts.origin,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Runs until the model is done and returns the output. Dropping the future cancels the run, which still ends in
    /// order.
    pub async fn run(&self, prompt: impl Into<Prompt>) -> Result<Arc<AgentOutput>, AgentError> {
        let start = self.prompt_start(prompt.into())?;
        self.start(start, None, None)?.finish().await
    }

    /// The same; the last answer must match a JSON Schema.
    pub async fn run_with_schema(
        &self,
        prompt: impl Into<Prompt>,
        schema: OutputSchema,
    ) -> Result<Arc<AgentOutput>, AgentError> {
        let start = self.prompt_start(prompt.into())?;
        self.start_with(self.config_for(schema), start, None, None)?.finish().await
    }

    /// Begins a run and returns its events as they happen.
    pub fn run_stream(&self, prompt: impl Into<Prompt>) -> Result<RunStream, AgentError> {
        let start = self.prompt_start(prompt.into())?;
        self.stream(start, None)
    }

    /// Starts a run in the background and returns its id. Observe the agent to see its events; call [`Self::abort`] to
    /// stop it.
    pub fn launch(&self, prompt: impl Into<Prompt>) -> Result<RunId, AgentError> {
        let start = self.prompt_start(prompt.into())?;
        self.detached(start, None)
    }

    /// The same; the last answer must match a JSON Schema.
    pub fn launch_with_schema(
        &self,
        prompt: impl Into<Prompt>,
        schema: OutputSchema,
    ) -> Result<RunId, AgentError> {
        let start = self.prompt_start(prompt.into())?;
        let handle = self.start_with(self.config_for(schema), start, None, None)?;
        drop(handle.cancel.disarm());
        Ok(handle.run_id)
    }

    /// The same without a new prompt, see [`Self::continue_run`].
    pub fn launch_continued(&self, kind: ContinuationKind) -> Result<RunId, AgentError> {
        self.detached(Start::Continue, Some(kind))
    }

    /// Like [`Self::launch`], but for a compaction; see [`Self::compact`].
    pub fn launch_compaction(&self, instructions: impl Into<String>) -> Result<RunId, AgentError> {
        self.detached(Start::Compact(instructions.into()), None)
    }

    /// Runs a tool call that the user typed, in a run without a model: `prompt` is what they typed. The call passes the gate of
    /// `call`, and the model sees it and its result from the next prompt on.
    pub fn launch_call(&self, prompt: impl Into<Prompt>, call: UserCall) -> Result<RunId, AgentError> {
        let start = self.prompt_start(prompt.into())?;
        let config = Arc::new(call.configure(&self.inner.config_now()));
        let handle = self.start_with(config, start, None, None)?;
        drop(handle.cancel.disarm());
        Ok(handle.run_id)
    }

    /// Records a session fact in the log.
    pub fn record_fact(&self, fact: impl Into<AgentEvent>) {
        let log = self.session().log.clone();
        log.record_fact(fact);
    }

    /// The number of the last durable event of the session.
    pub fn seq(&self) -> u64 {
        self.session().log.seq()
    }

    /// Starts a run with a text prompt; the same as [`Self::run_stream`].
    pub fn prompt(&self, text: impl Into<String>) -> Result<RunStream, AgentError> {
        self.run_stream(text.into())
    }

    /// Starts a run with complete messages.
    pub fn prompt_messages(&self, messages: Vec<Message>) -> Result<RunStream, AgentError> {
        let messages: Vec<AgentMessage> = messages.into_iter().map(AgentMessage::from).collect();
        self.run_stream(messages)
    }

    /// Starts a run without a new prompt.
    ///
    /// `Default` continues the conversation, which must not end with the model's answer. `Rerun` and `Branch` go back
    /// to the last user message and answer it again. Later messages leave the conversation but stay in the log.
    pub fn continue_run(&self, kind: ContinuationKind) -> Result<RunStream, AgentError> {
        self.stream(Start::Continue, Some(kind))
    }

    /// Compacts the context window in a separate run. The conversation stays complete. `instructions` say what the
    /// summary should keep; they may be empty.
    pub fn compact(&self, instructions: impl Into<String>) -> Result<RunStream, AgentError> {
        self.stream(Start::Compact(instructions.into()), None)
    }

    /// Sends a message to the current run, between its tool executions, or to the next run if none is running.
    pub fn steer(&self, message: impl Into<Prompt>) {
        for message in message.into().into_messages(self.inner.config.clock.now()) {
            self.inner.config.control.steer(message);
        }
    }

    /// Sends a message once the current run would otherwise stop, or at the end of the next run if none is running.
    pub fn follow_up(&self, message: impl Into<Prompt>) {
        for message in message.into().into_messages(self.inner.config.clock.now()) {
            self.inner.config.control.follow_up(message);
        }
    }

    /// Says something to a running child of a tool call, between its tool executions.
    pub fn steer_child(&self, session_id: &SessionId, message: impl Into<Prompt>) -> Result<(), ChildError> {
        self.tell_child(session_id, ChildMessageTime::Steer, message.into())
    }

    /// Says something to a running child of a tool call once its run would otherwise stop.
    pub fn follow_up_child(
        &self,
        session_id: &SessionId,
        message: impl Into<Prompt>,
    ) -> Result<(), ChildError> {
        self.tell_child(session_id, ChildMessageTime::FollowUp, message.into())
    }

    fn tell_child(
        &self,
        session_id: &SessionId,
        when: ChildMessageTime,
        message: Prompt,
    ) -> Result<(), ChildError> {
        let config = &self.inner.config;
        let messages = message.into_messages(config.clock.now());
        messages.into_iter().try_for_each(|message| config.control.tell_child(session_id, when, message))
    }

    /// Stops a running child of a tool call; the run that started it goes on.
    pub fn abort_child(&self, session_id: &SessionId) -> Result<(), ChildError> {
        self.inner.config.control.cancel_child(session_id)
    }

    /// How many messages wait: steering and follow-ups.
    pub fn queue_lengths(&self) -> (usize, usize) {
        self.inner.config.control.queue_lengths()
    }

    /// Declares that approval requests are answered while the returned guard is alive. A [`RunStream`] does so by
    /// default.
    pub fn attach_approver(&self) -> ApproverGuard {
        self.inner.config.control.attach_approver()
    }

    /// Whether approval requests are answered now.
    pub fn has_approver(&self) -> bool {
        self.inner.config.control.has_approver()
    }

    /// Cancels the current run, if any. It still ends in order.
    pub fn abort(&self) {
        if let Some(running) = &self.session().running {
            running.cancel.cancel();
        }
    }

    /// Waits until no run is in progress, for example after [`Self::abort`] or after a run's future was dropped.
    pub async fn wait_until_idle(&self) {
        let running = self.session().running.clone();
        if let Some(running) = running {
            running.ending.over.cancelled().await;
        }
    }

    /// Waits until no run is in progress and all hooks have been notified of the last one's end, which happens after
    /// `agent.end`.
    pub async fn wait_until_settled(&self) {
        let running = self.session().running.clone();
        if let Some(running) = running {
            running.settled.cancelled().await;
        }
    }

    /// Whether a run is in progress, that is, its `agent.end` has not been emitted.
    pub fn is_running(&self) -> bool {
        self.session().running.as_ref().is_some_and(|running| !running.ending.over.is_cancelled())
    }

    /// Subscribes to the events of all runs. `None` unless the agent was built with `enable_broadcast`.
    pub fn subscribe(&self) -> Option<EventSubscription> {
        self.inner.observers.subscribe()
    }

    /// Changes the model from the next run on. The current run keeps its model.
    pub fn set_model(&self, provider: Arc<dyn Provider>, model: impl Into<Arc<str>>) {
        let model = model.into();
        self.inner.change(|config| {
            config.provider = provider;
            config.settings.model = model;
        });
    }

    /// The model of the next run.
    pub fn model(&self) -> Arc<str> {
        Arc::clone(&self.inner.config_now().settings.model)
    }

    /// The thinking level of the next run.
    pub fn thinking(&self) -> ThinkingLevel {
        self.inner.config_now().settings.request.thinking
    }

    /// Changes the thinking level from the next run on.
    pub fn set_thinking(&self, level: ThinkingLevel) {
        self.inner.change(|config| {
            config.settings.request.thinking = level;
            config.settings.request.thinking_is_default = false;
        });
    }

    /// The conversation so far, also while a run adds to it.
    pub fn messages(&self) -> History {
        lock(&self.inner.shared).conversation.history().clone()
    }

    /// Clears the conversation and the message queues.
    pub fn reset(&self) -> Result<(), AgentError> {
        let session = self.idle_session()?;
        *lock(&self.inner.shared) = Shared::default();
        self.inner.config.control.clear();
        drop(session);
        Ok(())
    }

    /// The conversation as JSON.
    pub fn save_messages(&self) -> String {
        // Serializing messages cannot fail: they contain only string keys and finite numbers.
        serde_json::to_string(&self.messages()).unwrap_or_default()
    }

    /// Replaces the conversation with one saved by [`Self::save_messages`]. Tool calls without a result get one that
    /// says so.
    pub fn restore_messages(&self, json: &str) -> Result<(), AgentError> {
        let history: History =
            serde_json::from_str(json).map_err(|error| AgentError::UnreadableMessages(error.to_string()))?;
        let history = repair_calls(&history, self.inner.config.clock.now());
        let session = self.idle_session()?;
        *lock(&self.inner.shared) = history.into();
        drop(session);
        Ok(())
    }

    /// The agent's id, stable across its sessions.
    pub fn agent_id(&self) -> &AgentId {
        &self.inner.agent_id
    }

    /// The session's id.
    pub fn session_id(&self) -> SessionId {
        self.session().log.session_id().clone()
    }

    /// Starts a new session with a new id, a new log and runs counted from 1. The conversation is kept; [`Self::reset`]
    /// clears it.
    pub fn new_session(&self) -> Result<SessionId, AgentError> {
        let mut session = self.idle_session()?;
        Ok(self.rotate(&mut session))
    }

    /// Starts a new session if the last run started longer than `threshold` ago.
    pub fn check_and_rotate(&self, threshold: Duration) -> Result<Option<SessionId>, AgentError> {
        let mut session = self.idle_session()?;
        let now = self.inner.config.clock.elapsed();
        match session.last_active {
            Some(last) if now.saturating_sub(last) > threshold => Ok(Some(self.rotate(&mut session))),
            Some(_) | None => Ok(None),
        }
    }

    fn rotate(&self, session: &mut Session) -> SessionId {
        let config = &self.inner.config;
        let roll = [config.random.next_u64(), config.random.next_u64()];
        let session_id = SessionId::generate(config.clock.now(), roll);
        let (store, observers) = (self.inner.store.clone(), self.inner.observers.clone());
        let log = EventLog::new(session_id.clone(), Arc::clone(&config.clock), store, observers);
        let running = session.running.take();
        *session = Session { running, ..Session::new(log) };
        session_id
    }

    fn prompt_start(&self, prompt: Prompt) -> Result<Start, AgentError> {
        if prompt.is_empty() {
            return Err(AgentError::EmptyPrompt);
        }
        if !prompt.is_from_user() {
            return Err(AgentError::NotAUserMessage);
        }
        Ok(Start::Prompt(prompt.into_messages(self.inner.config.clock.now())))
    }

    fn detached(&self, start: Start, continuation: Option<ContinuationKind>) -> Result<RunId, AgentError> {
        let handle = self.start(start, continuation, None)?;
        drop(handle.cancel.disarm());
        Ok(handle.run_id)
    }

    fn stream(&self, start: Start, continuation: Option<ContinuationKind>) -> Result<RunStream, AgentError> {
        let queue = Arc::new(EventQueue::default());
        let config = &self.inner.config;
        let control = config.control.clone();
        // The reader of the stream can answer from the first event on.
        let approver = control.attach_approver();
        let handle = self.start(start, continuation, Some(Arc::clone(&queue)))?;
        Ok(RunStream::new(queue, control, approver, Arc::clone(&config.clock), handle))
    }

    /// What the next run is made with, if its answer must match `schema`.
    fn config_for(&self, schema: OutputSchema) -> Arc<RunConfig> {
        let mut config = RunConfig::clone(&self.inner.config_now());
        config.settings.request.output_schema = Some(Arc::new(schema));
        Arc::new(config)
    }

    fn start(
        &self,
        start: Start,
        continuation: Option<ContinuationKind>,
        queue: Option<Arc<EventQueue>>,
    ) -> Result<RunHandle, AgentError> {
        // The run is what it says of itself, whatever is changed meanwhile.
        self.start_with(self.inner.config_now(), start, continuation, queue)
    }

    /// Begins a run as a task of its own, so that it ends in order whatever becomes of its caller.
    fn start_with(
        &self,
        config: Arc<RunConfig>,
        start: Start,
        continuation: Option<ContinuationKind>,
        queue: Option<Arc<EventQueue>>,
    ) -> Result<RunHandle, AgentError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| AgentError::NoRuntime)?;
        let mut session = self.idle_session()?;
        let identity = session.next_identity(&self.inner, &config, continuation);
        let log = RunLog { log: session.log.clone(), run_id: identity.run_id.clone(), queue };
        let run_id = identity.run_id.clone();
        let cancel = CancellationToken::new();
        let ending = Arc::new(RunEnding::default());
        let settled = CancellationToken::new();
        let running = Running { cancel: cancel.clone(), ending: Arc::clone(&ending), settled };
        let previous = session.running.replace(running.clone());
        drop(session);
        let inner = Arc::clone(&self.inner);
        let guard = cancel.clone().drop_guard();
        // Created here, so that cleanup also happens if the task is dropped before it is first polled.
        let finished = RunCleanup { inner: Arc::clone(&inner), running, queue: log.queue.clone() };
        let task = runtime.spawn(async move {
            if let Some(previous) = previous {
                previous.ending.over.cancelled().await;
            }
            let conversation = inner.conversation(identity.continuation.as_ref());
            let mut run = Run::new(config, identity, log, conversation, &cancel);
            run.state.call_ids = std::mem::take(&mut lock(&inner.shared).call_ids);
            run.meter = std::mem::take(&mut lock(&inner.shared).meter);
            run.mirror = Some(Arc::clone(&inner.shared));
            run.ending = ending;
            let output = match AssertUnwindSafe(drive(&mut run, start)).catch_unwind().await {
                Ok(output) => output,
                Err(panic) => run.close_as_panicked(&panic_text(&*panic)),
            };
            drop(run);
            drop(finished);
            output
        });
        Ok(RunHandle { run_id, task, cancel: guard })
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.inner.session)
    }

    fn idle_session(&self) -> Result<MutexGuard<'_, Session>, AgentError> {
        let session = self.session();
        if session.is_busy() { Err(AgentError::Busy) } else { Ok(session) }
    }
}

impl Session {
    fn new(log: EventLog) -> Self {
        Self { log, runs: 0, last_run_id: None, last_active: None, running: None }
    }

    fn is_busy(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.ending.has_begun())
    }

    fn next_identity(
        &mut self,
        inner: &Inner,
        config: &RunConfig,
        continuation: Option<ContinuationKind>,
    ) -> Identity {
        let run_id = self.log.next_run_id(&config.segment());
        let continued = continuation.as_ref().and_then(|_| self.last_run_id.clone());
        let parent_run_id = continued.or_else(|| inner.origin.parent_run_id.clone());
        let run_index = self.runs;
        self.runs += 1;
        self.last_run_id = Some(run_id.clone());
        self.last_active = Some(config.clock.elapsed());
        Identity {
            agent_id: inner.agent_id.clone(),
            run_id,
            parent_run_id,
            continuation,
            run_index,
            metadata: inner.origin.metadata.clone(),
            settings: Some(Arc::new(config.recorded_settings())),
        }
    }
}

impl Inner {
    /// The configuration of the next run.
    fn config_now(&self) -> Arc<RunConfig> {
        Arc::clone(lock(&self.next_config).as_ref().unwrap_or(&self.config))
    }

    fn change(&self, change: impl FnOnce(&mut RunConfig)) {
        let mut next = lock(&self.next_config);
        let mut config = RunConfig::clone(next.as_ref().unwrap_or(&self.config));
        change(&mut config);
        *next = Some(Arc::new(config));
    }

    /// The conversation at the start of a run. A rerun or branch goes back to the last user message.
    fn conversation(&self, continuation: Option<&ContinuationKind>) -> Conversation {
        let conversation = lock(&self.shared).conversation.clone();
        match continuation {
            None | Some(ContinuationKind::Default) => conversation,
            Some(ContinuationKind::Rerun { .. } | ContinuationKind::Branch { .. }) => {
                conversation.prefix(rewind_to_prompt(conversation.history(), continuation).len())
            }
        }
    }
}

/// Cleans up after a run, also when its task is dropped or panics.
struct RunCleanup {
    inner: Arc<Inner>,
    running: Running,
    queue: Option<Arc<EventQueue>>,
}

impl Drop for RunCleanup {
    fn drop(&mut self) {
        // A task that never started its run has nothing to emit.
        self.running.ending.complete(|| {});
        let mut session = lock(&self.inner.session);
        if session.running.as_ref().is_some_and(|running| Arc::ptr_eq(&running.ending, &self.running.ending))
        {
            session.running = None;
        }
        drop(session);
        self.running.settled.cancel();
        if let Some(queue) = &self.queue {
            queue.end();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
