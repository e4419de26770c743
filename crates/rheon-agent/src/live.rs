//! `Run`: a run in progress, with the state its steps share. `close.rs` ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_types::event::{BudgetAmount, RunSettings};
use rheon_types::{
    AgentEvent, AgentId, AgentMessage, Budget, ContinuationKind, Event, History, LlmMessage, Message,
    MessageEvent, RunEvent, RunFailure, RunId, StoreError, Timestamp, TurnId, TurnTrigger, Usage,
};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::millis;
use crate::config::RunConfig;
use crate::conversation::Conversation;
use crate::halt::{Halt, StopSignal};
use crate::log::{EventLog, EventQueue};
use crate::meter::PromptMeter;
use crate::person_wait::PersonWait;
use crate::reservation::PendingReservation;
use crate::state::{OpenTurn, RunState, Shared};
use crate::step::decide::RunProgress;
use crate::tool_offer::ToolOffer;

/// The time limit of a run's last sync.
const LAST_SYNC_SECONDS_MAX: u64 = 30;

/// The identity of a run.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) agent_id: AgentId,
    pub(crate) run_id: RunId,
    pub(crate) parent_run_id: Option<RunId>,
    pub(crate) continuation: Option<ContinuationKind>,
    /// How many runs the session had before.
    pub(crate) run_index: usize,
    pub(crate) metadata: Option<Arc<Value>>,
    pub(crate) settings: Option<Arc<RunSettings>>,
}

/// Where a run's events go.
#[derive(Clone)]
pub(crate) struct RunLog {
    pub(crate) log: EventLog,
    pub(crate) run_id: RunId,
    pub(crate) queue: Option<Arc<EventQueue>>,
}

impl RunLog {
    pub(crate) fn emit(&self, kind: AgentEvent) {
        self.log.emit(&self.run_id, self.queue.as_deref(), kind);
    }

    /// Forwards an event of a child, which is not part of this log.
    pub(crate) fn show_child(&self, event: &Event) {
        self.log.show_child(&self.run_id, event);
    }

    /// Emits an event that happened at this time.
    pub(crate) fn emit_at(&self, at: Timestamp, kind: AgentEvent) {
        self.log.emit_at(at, &self.run_id, self.queue.as_deref(), kind);
    }
}

/// The progress of a run's end.
#[derive(Debug, Default)]
pub(crate) struct RunEnding {
    /// Set when `agent.end` is about to be emitted. From here on the next run may be requested.
    pub(crate) begun: AtomicBool,
    /// Fires when `agent.end` is emitted. From here on the next run may start.
    pub(crate) over: CancellationToken,
}

impl RunEnding {
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Emits the end with `emit`.
    pub(crate) fn complete(&self, emit: impl FnOnce()) {
        self.begun.store(true, Ordering::Release);
        emit();
        self.over.cancel();
    }
}

/// A run in progress.
pub(crate) struct Run {
    pub(crate) config: Arc<RunConfig>,
    pub(crate) identity: Identity,
    pub(crate) log: RunLog,
    pub(crate) state: RunState,
    pub(crate) stop: StopSignal,
    /// Publishes the growing conversation.
    pub(crate) mirror: Option<Arc<Mutex<Shared>>>,
    /// A sync in progress during the model call.
    pub(crate) syncing: Option<JoinHandle<Result<(), StoreError>>>,
    pub(crate) ending: Arc<RunEnding>,
    /// The budget reservation of the current call.
    pub(crate) reservation: Option<PendingReservation>,
    pub(crate) meter: PromptMeter,
    pub(crate) budget: Option<Arc<dyn Budget>>,
    /// The tools offered in this turn.
    pub(crate) offer: ToolOffer,
}

impl Run {
    /// The amount reserved for the current call.
    pub(crate) fn reserved(&self) -> Option<BudgetAmount> {
        self.reservation.as_ref().map(PendingReservation::reserved)
    }

    /// Counts what an attempt of the current call has spent.
    pub(crate) fn charge(&mut self, spent: BudgetAmount) {
        self.state.tokens_spent = self.state.tokens_spent.saturating_add(spent.tokens);
        if let Some(pending) = &mut self.reservation {
            pending.charge(spent);
        }
    }

    /// Settles the reservation with the amount actually spent.
    pub(crate) fn settle_reservation(&mut self) {
        if let Some(pending) = self.reservation.take() {
            pending.settle();
        }
    }

    /// The tokens of `usage` that count against limits and budgets.
    pub(crate) fn billed_tokens(&self, usage: &Usage) -> u64 {
        usage.billed(self.cache_read_percent().unwrap_or(100))
    }

    /// What a token read from the cache counts, in percent. Absent in the replay of an older log.
    pub(crate) fn cache_read_percent(&self) -> Option<u8> {
        self.identity.settings.as_ref().and_then(|settings| settings.cache_read_percent)
    }

    pub(crate) fn new(
        config: Arc<RunConfig>,
        identity: Identity,
        log: RunLog,
        conversation: Conversation,
        cancel: &CancellationToken,
    ) -> Self {
        let time_left = config.budget.as_ref().and_then(|budget| budget.time_left());
        let limits = [config.settings.limits.duration_max, time_left];
        let waits = Arc::new(PersonWait::new(config.budget.clone()));
        let stop = StopSignal::new(cancel, limits.into_iter().flatten().min(), waits);
        Self::with_stop(config, identity, log, conversation, stop)
    }

    /// A run that stops when `stop` fires.
    pub(crate) fn with_stop(
        config: Arc<RunConfig>,
        identity: Identity,
        log: RunLog,
        conversation: Conversation,
        stop: StopSignal,
    ) -> Self {
        log.log.recover();
        let started_ms = millis(config.clock.elapsed());
        let state = RunState::new(conversation, started_ms);
        let ending = Arc::default();
        let budget = config.budget.clone();
        let (mirror, syncing, reservation, meter) = (None, None, None, PromptMeter::default());
        let offer = ToolOffer::now(&config);
        Self {
            config,
            identity,
            log,
            state,
            stop,
            mirror,
            syncing,
            ending,
            reservation,
            meter,
            budget,
            offer,
        }
    }

    pub(crate) fn history(&self) -> &History {
        self.state.conversation.history()
    }

    pub(crate) fn emit(&self, kind: AgentEvent) {
        self.log.emit(kind);
    }

    /// Emits `agent.start`.
    pub(crate) fn open(&mut self) {
        let continuation = self.identity.continuation.clone();
        let (history, cuts) = self.log.log.unlogged(&self.state.conversation, continuation.as_ref());
        self.emit(AgentEvent::Run(RunEvent::Start {
            agent_id: self.identity.agent_id.clone(),
            parent_run_id: self.identity.parent_run_id.clone(),
            continuation,
            model: Arc::clone(&self.config.settings.model),
            metadata: self.identity.metadata.clone(),
            settings: self.recorded_settings(),
            history,
            cuts,
        }));
    }

    /// The run's settings, including the window size learned by earlier runs.
    fn recorded_settings(&self) -> Option<Arc<RunSettings>> {
        let mut settings = self.identity.settings.clone()?;
        let learnt = self.meter.tracker().learned_window();
        if learnt.is_some()
            && let Some(window) = &mut Arc::make_mut(&mut settings).window
        {
            window.tokens_learnt = learnt;
        }
        Some(settings)
    }

    /// Waits until all events so far are stored safely; called before a side effect.
    pub(crate) async fn commit(&mut self) -> Result<(), Halt> {
        if !self.log.log.is_stored() {
            return Ok(());
        }
        if let Some(syncing) = self.syncing.take() {
            // Its result is in the log's state, which the next sync returns.
            self.stop.or(syncing).await?.ok();
        }
        let synced = self.stop.or(self.log.log.sync()).await?;
        synced.map_err(|error| Halt::Failed(RunFailure::Store { error }))
    }

    /// Waits until the whole run is stored safely. Cannot be canceled, but is bounded.
    pub(crate) async fn commit_last(&mut self) -> Result<(), StoreError> {
        let late =
            |_| Err(StoreError::new(format!("the store did not sync within {LAST_SYNC_SECONDS_MAX} s")));
        let limit = Duration::from_secs(LAST_SYNC_SECONDS_MAX);
        let syncing = self.syncing.take();
        let both = async {
            if let Some(syncing) = syncing {
                // Its result is in the log's state. Wait for it, so that nothing uses the store after the run.
                syncing.await.ok();
            }
            self.log.log.sync().await
        };
        tokio::time::timeout(limit, both).await.unwrap_or_else(late)
    }

    /// Starts a sync without waiting for it; the next [`Self::commit`] waits.
    pub(crate) fn commit_meanwhile(&mut self) {
        if self.log.log.is_stored() {
            let log = self.log.log.clone();
            self.syncing = Some(tokio::spawn(async move { log.sync().await }));
        }
    }

    /// Waits until the reader of the run's stream, if there is one, has caught up.
    pub(crate) async fn ready(&self) -> Result<(), Halt> {
        match &self.log.queue {
            Some(queue) if !queue.has_room() => self.stop.or(queue.ready()).await,
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.config.clock.now()
    }

    /// The monotonic clock, in milliseconds.
    pub(crate) fn clock_ms(&self) -> u64 {
        millis(self.config.clock.elapsed())
    }

    /// Whether the run is a tool call that the user typed.
    pub(crate) fn is_user_call(&self) -> bool {
        self.config.settings.first_turn_trigger == TurnTrigger::Command
    }

    pub(crate) fn progress(&self) -> RunProgress {
        let (steering, follow_ups) = self.config.control.queue_lengths();
        let waited_ms = millis(self.stop.waits().total());
        // No model answers in the run of a typed call, so queued messages wait for the next run.
        let queued = if self.is_user_call() { 0 } else { steering + follow_ups };
        RunProgress {
            turns: self.state.turns,
            tokens: self.state.tokens_spent,
            elapsed_ms: self.clock_ms().saturating_sub(self.state.started_ms).saturating_sub(waited_ms),
            expects_answer: self.state.expects_answer,
            queued,
            last_stop: self.state.stops.last,
        }
    }

    /// Wraps a message of the current turn.
    pub(crate) fn tag(&self, message: Message) -> Arc<AgentMessage> {
        let turn_id = self
            .state
            .turn
            .as_ref()
            .map(|turn| TurnId { run_id: self.identity.run_id.clone(), index: turn.index });
        Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id }))
    }

    /// Adds a message to the conversation and the log.
    pub(crate) fn enter(&mut self, message: Arc<AgentMessage>) {
        self.emit(AgentEvent::Message(MessageEvent::Start { message: Arc::clone(&message) }));
        self.enter_announced(message);
    }

    /// Adds a message created now to the conversation and the log. It has the time of its first event, so that the log
    /// contains every clock reading.
    pub(crate) fn enter_now(&mut self, make: impl FnOnce(Timestamp) -> Message) -> Arc<AgentMessage> {
        let now = self.now();
        let message = self.tag(make(now));
        self.log.emit_at(now, AgentEvent::Message(MessageEvent::Start { message: Arc::clone(&message) }));
        self.enter_announced(Arc::clone(&message));
        message
    }

    /// Adds a message whose start was already emitted. Observers of its end find it in the conversation.
    pub(crate) fn enter_announced(&mut self, message: Arc<AgentMessage>) {
        self.state.push(Arc::clone(&message));
        self.publish();
        self.emit(AgentEvent::Message(MessageEvent::End { message }));
    }

    /// Publishes the current conversation.
    pub(crate) fn publish(&self) {
        if let Some(mirror) = &self.mirror {
            let mut shared = mirror.lock().unwrap_or_else(PoisonError::into_inner);
            shared.conversation.clone_from(&self.state.conversation);
        }
    }

    /// Passes exclusive state on to the next run.
    pub(crate) fn hand_off(&mut self) {
        if let Some(mirror) = &self.mirror {
            let mut shared = mirror.lock().unwrap_or_else(PoisonError::into_inner);
            shared.call_ids = std::mem::take(&mut self.state.call_ids);
            shared.meter = std::mem::take(&mut self.meter);
        }
    }

    /// The current turn. Steps run only inside a turn; outside, they get an empty one.
    pub(crate) fn turn(&mut self) -> &mut OpenTurn {
        self.state.turn.get_or_insert_default()
    }
}
