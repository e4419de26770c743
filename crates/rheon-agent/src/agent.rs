//! `Agent`: a conversation that can be run, watched, steered and stopped, from any number of handles.

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
use crate::context::{go_back, mend_calls};
use crate::control::Answerer;
use crate::conversation::Conversation;
use crate::error::{AgentError, ChildError};
use crate::live::{Ending, Identity, Run, RunLog};
use crate::log::{EventLog, EventQueue, EventSubscription, LogPosition, Observers};
use crate::panics::panic_text;
use crate::prompt::Prompt;
use crate::run::{Start, drive};
use crate::state::Shared;
use crate::stream::{RunHandle, RunStream};

/// An agent. Clones are handles to the same one, so it can be steered while it runs.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    agent_id: AgentId,
    /// What runs are made with, and what never changes of it.
    config: Arc<RunConfig>,
    /// Who is asked from the next run on, where that is not who was asked first.
    asked: Mutex<Option<Arc<RunConfig>>>,
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
    ending: Arc<Ending>,
    /// Everybody has been told of the end.
    settled: CancellationToken,
}

/// What an agent is made of.
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

/// Where the runs of an agent come from.
#[derive(Default)]
pub(crate) struct Origin {
    /// The run that it works for.
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
        // Whoever goes on with a log goes on with its conversation; any other is told by the first run.
        let is_told = parts.position.seq > 0;
        let log = EventLog::resumed(session_id, clock, store, observers, parts.position);
        let log = if is_told { log.with_window(&parts.history, &parts.cuts) } else { log };
        let conversation = Conversation::mended(&parts.history, parts.cuts, now);
        let inner = Inner {
            agent_id,
            config,
            asked: Mutex::default(),
            observers: parts.observers,
            store: parts.store,
            shared: Arc::new(Mutex::new(conversation.into())),
            session: Mutex::new(Session { runs, ..Session::new(log) }),
            origin: parts.origin,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Runs until the model is done and returns what it left. Dropping the future cancels the run, which then ends in
    /// order by itself.
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

    /// Begins a run that ends by itself, or when it is aborted. Observe the agent to see its events. Returns the id of the run.
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

    /// The same for a compaction, see [`Self::compact`].
    pub fn launch_compaction(&self, instructions: impl Into<String>) -> Result<RunId, AgentError> {
        self.detached(Start::Compact(instructions.into()), None)
    }

    /// Writes a fact of the session into its log.
    pub fn fact(&self, fact: impl Into<AgentEvent>) {
        let log = self.session().log.clone();
        log.fact(fact);
    }

    /// The number of the last durable event of the session.
    pub fn seq(&self) -> u64 {
        self.session().log.seq()
    }

    /// Begins a run with a text; the same as [`Self::run_stream`].
    pub fn prompt(&self, text: impl Into<String>) -> Result<RunStream, AgentError> {
        self.run_stream(text.into())
    }

    /// Begins a run with whole messages.
    pub fn prompt_messages(&self, messages: Vec<Message>) -> Result<RunStream, AgentError> {
        let messages: Vec<AgentMessage> = messages.into_iter().map(AgentMessage::from).collect();
        self.run_stream(messages)
    }

    /// Begins a run without a new prompt.
    ///
    /// `Default` goes on from the conversation as it stands, which must not end with the model's answer. `Rerun` and `Branch`
    /// go back to the last thing the user said and answer it anew; what came after it leaves the conversation (the log
    /// keeps it).
    pub fn continue_run(&self, kind: ContinuationKind) -> Result<RunStream, AgentError> {
        self.stream(Start::Continue, Some(kind))
    }

    /// Makes the window shorter now, in a run of its own that does nothing else. The conversation stays whole. What
    /// `instructions` say is kept in the summary; they may be empty.
    pub fn compact(&self, instructions: impl Into<String>) -> Result<RunStream, AgentError> {
        self.stream(Start::Compact(instructions.into()), None)
    }

    /// Says something to the run that is under way, between its tool executions; without one, to the next.
    pub fn steer(&self, message: impl Into<Prompt>) {
        for message in message.into().into_messages(self.inner.config.clock.now()) {
            self.inner.config.control.steer(message);
        }
    }

    /// Says something once the run under way would otherwise stop; without one, at the end of the next.
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
    pub fn queued(&self) -> (usize, usize) {
        self.inner.config.control.queued()
    }

    /// Declares that somebody answers approval requests, for as long as the returned value lives. A [`RunStream`] does so
    /// by itself.
    pub fn answerer(&self) -> Answerer {
        self.inner.config.control.answerer()
    }

    /// Cancels the run that is under way, if one is. It still ends in order.
    pub fn abort(&self) {
        if let Some(running) = &self.session().running {
            running.cancel.cancel();
        }
    }

    /// Waits until no run is under way; for after [`Self::abort`], or after a run's future was dropped.
    pub async fn wait_until_idle(&self) {
        let running = self.session().running.clone();
        if let Some(running) = running {
            running.ending.over.cancelled().await;
        }
    }

    /// Waits until no run is under way and the hooks of the last one have been told of its end, which they are after `agent.end`.
    pub async fn wait_until_settled(&self) {
        let running = self.session().running.clone();
        if let Some(running) = running {
            running.settled.cancelled().await;
        }
    }

    /// Whether a run is under way: until its `agent.end` is out.
    pub fn is_running(&self) -> bool {
        self.session().running.as_ref().is_some_and(|running| !running.ending.over.is_cancelled())
    }

    /// A subscriber to the events of all runs; `None` unless the agent was built with `enable_broadcast`.
    pub fn subscribe(&self) -> Option<EventSubscription> {
        self.inner.observers.subscribe()
    }

    /// Asks another model from the next run on; a run that is under way goes on with its own.
    pub fn set_model(&self, provider: Arc<dyn Provider>, model: impl Into<Arc<str>>) {
        let model = model.into();
        self.inner.change(|config| {
            config.provider = provider;
            config.settings.model = model;
        });
    }

    /// How much the model is to think in the next run.
    pub fn thinking(&self) -> ThinkingLevel {
        self.inner.config_now().settings.request.thinking
    }

    /// Lets the model think more or less from the next run on.
    pub fn set_thinking(&self, level: ThinkingLevel) {
        self.inner.change(|config| config.settings.request.thinking = level);
    }

    /// The conversation so far, also while a run adds to it.
    pub fn messages(&self) -> History {
        lock(&self.inner.shared).conversation.history().clone()
    }

    /// Forgets the conversation and whatever waits in the queues.
    pub fn reset(&self) -> Result<(), AgentError> {
        let session = self.idle_session()?;
        *lock(&self.inner.shared) = Shared::default();
        self.inner.config.control.clear();
        drop(session);
        Ok(())
    }

    /// The conversation as JSON.
    pub fn save_messages(&self) -> String {
        // Messages hold nothing that JSON cannot say: no maps with odd keys, no numbers that are none.
        serde_json::to_string(&self.messages()).unwrap_or_default()
    }

    /// Replaces the conversation with one saved by [`Self::save_messages`]. Tool calls that lack a result get one that says so.
    pub fn restore_messages(&self, json: &str) -> Result<(), AgentError> {
        let history: History =
            serde_json::from_str(json).map_err(|error| AgentError::UnreadableMessages(error.to_string()))?;
        let history = mend_calls(&history, self.inner.config.clock.now());
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

    /// Begins a new session: a new id, a new log, runs counted from 1. The conversation stays; [`Self::reset`] forgets it.
    pub fn new_session(&self) -> Result<SessionId, AgentError> {
        let mut session = self.idle_session()?;
        Ok(self.rotate(&mut session))
    }

    /// Begins a new session if the last run began longer than `threshold` ago.
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
        // Whoever reads the stream can answer from the first event on.
        let answerer = control.answerer();
        let handle = self.start(start, continuation, Some(Arc::clone(&queue)))?;
        Ok(RunStream::new(queue, control, answerer, Arc::clone(&config.clock), handle))
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
        let ending = Arc::new(Ending::default());
        let settled = CancellationToken::new();
        let running = Running { cancel: cancel.clone(), ending: Arc::clone(&ending), settled };
        let previous = session.running.replace(running.clone());
        drop(session);
        let inner = Arc::clone(&self.inner);
        let guard = cancel.clone().drop_guard();
        // Made here, so that it also lets go of a task that is dropped before it is first polled.
        let finished = Finished { inner: Arc::clone(&inner), running, queue: log.queue.clone() };
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
            settings: Some(Arc::new(config.obeyed())),
        }
    }
}

impl Inner {
    /// What the next run is made with.
    fn config_now(&self) -> Arc<RunConfig> {
        Arc::clone(lock(&self.asked).as_ref().unwrap_or(&self.config))
    }

    fn change(&self, change: impl FnOnce(&mut RunConfig)) {
        let mut asked = lock(&self.asked);
        let mut config = RunConfig::clone(asked.as_ref().unwrap_or(&self.config));
        change(&mut config);
        *asked = Some(Arc::new(config));
    }

    /// The conversation a run begins with; a rerun or branch goes back to what the user said last.
    fn conversation(&self, continuation: Option<&ContinuationKind>) -> Conversation {
        let conversation = lock(&self.shared).conversation.clone();
        match continuation {
            None | Some(ContinuationKind::Default) => conversation,
            Some(ContinuationKind::Rerun { .. } | ContinuationKind::Branch { .. }) => {
                conversation.prefix(go_back(conversation.history(), continuation).len())
            }
        }
    }
}

/// Lets go of a run, also when its task is dropped or panics.
struct Finished {
    inner: Arc<Inner>,
    running: Running,
    queue: Option<Arc<EventQueue>>,
}

impl Drop for Finished {
    fn drop(&mut self) {
        // A task that never came to its run has nothing to emit.
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
