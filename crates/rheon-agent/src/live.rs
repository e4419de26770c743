//! `Run`: a run while it lives. Holds what its steps share; `close.rs` ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_types::event::{BudgetAmount, RunSettings};
use rheon_types::{
    AgentEvent, AgentId, AgentMessage, Budget, ContinuationKind, Event, History, LlmMessage, Message,
    MessageEvent, RunEvent, RunFailure, RunId, StoreError, Timestamp, TurnId,
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
use crate::reservation::PendingReservation;
use crate::state::{OpenTurn, RunState, Shared};
use crate::step::decide::RunProgress;
use crate::tool_offer::ToolOffer;

/// How long the last sync of a run may take.
const LAST_SYNC_SECONDS_MAX: u64 = 30;

/// Who a run is.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) agent_id: AgentId,
    pub(crate) run_id: RunId,
    pub(crate) parent_run_id: Option<RunId>,
    pub(crate) continuation: Option<ContinuationKind>,
    /// How many runs the session had before.
    pub(crate) run_index: usize,
    pub(crate) metadata: Option<Arc<Value>>,
    /// What it obeys.
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

    /// Shows an event of a child, which is not part of this log.
    pub(crate) fn show_child(&self, event: &Event) {
        self.log.show_child(&self.run_id, event);
    }

    /// Emits an event that happened at this time.
    pub(crate) fn emit_at(&self, at: Timestamp, kind: AgentEvent) {
        self.log.emit_at(at, &self.run_id, self.queue.as_deref(), kind);
    }
}

/// How far the end of a run is.
#[derive(Debug, Default)]
pub(crate) struct RunEnding {
    /// Set when `agent.end` is about to be emitted: from here on the next run may be asked for.
    pub(crate) begun: AtomicBool,
    /// Fires when `agent.end` is out: from here on the next run may begin.
    pub(crate) over: CancellationToken,
}

impl RunEnding {
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Emits the end by `emit`.
    pub(crate) fn complete(&self, emit: impl FnOnce()) {
        self.begun.store(true, Ordering::Release);
        emit();
        self.over.cancel();
    }
}

/// A run while it lives.
pub(crate) struct Run {
    pub(crate) config: Arc<RunConfig>,
    pub(crate) identity: Identity,
    pub(crate) log: RunLog,
    pub(crate) state: RunState,
    pub(crate) stop: StopSignal,
    /// Where others see the conversation while it grows.
    pub(crate) mirror: Option<Arc<Mutex<Shared>>>,
    /// A sync that is under way beside the model call.
    pub(crate) syncing: Option<JoinHandle<Result<(), StoreError>>>,
    pub(crate) ending: Arc<RunEnding>,
    /// What is set aside of the budget for the call under way.
    pub(crate) reservation: Option<PendingReservation>,
    /// How long the prompt is.
    pub(crate) meter: PromptMeter,
    /// Where calls are paid from.
    pub(crate) budget: Option<Arc<dyn Budget>>,
    /// The tools that the model is offered in this turn.
    pub(crate) offer: ToolOffer,
}

impl Run {
    /// What is reserved of the budget for the call in progress.
    pub(crate) fn reserved(&self) -> Option<BudgetAmount> {
        self.reservation.as_ref().map(|aside| aside.reservation.reserved())
    }

    /// Turns what was reserved into what was spent.
    pub(crate) fn settle_reservation(&mut self) {
        let Some(PendingReservation { reservation, tokens_before, bill_before }) = self.reservation.take()
        else {
            return;
        };
        let tokens = self.state.tokens_spent.saturating_sub(tokens_before);
        reservation.settle(tokens, self.state.bill.since(bill_before));
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
        let stop = StopSignal::new(cancel, limits.into_iter().flatten().min());
        Self::with_stop(config, identity, log, conversation, stop)
    }

    /// A run that stops when `stop` says so.
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

    /// What the run obeys, with what earlier runs of the agent have learnt of the window.
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

    /// Waits until all that was said so far is safe: the moment before an effect.
    pub(crate) async fn commit(&mut self) -> Result<(), Halt> {
        if !self.log.log.is_stored() {
            return Ok(());
        }
        if let Some(syncing) = self.syncing.take() {
            // What it found out is in the log's own state, which the next line asks for.
            self.stop.or(syncing).await?.ok();
        }
        let synced = self.stop.or(self.log.log.sync()).await?;
        synced.map_err(|error| Halt::Failed(RunFailure::Store { error }))
    }

    /// Waits until the whole run is safe. Not cancellable, because it is the last thing owed, but bounded.
    pub(crate) async fn commit_last(&mut self) -> Result<(), StoreError> {
        let late =
            |_| Err(StoreError::new(format!("the store did not sync within {LAST_SYNC_SECONDS_MAX} s")));
        let limit = Duration::from_secs(LAST_SYNC_SECONDS_MAX);
        let syncing = self.syncing.take();
        let both = async {
            if let Some(syncing) = syncing {
                // What it found out is in the log's own state. Waited for, so that nothing holds the store after the run.
                syncing.await.ok();
            }
            self.log.log.sync().await
        };
        tokio::time::timeout(limit, both).await.unwrap_or_else(late)
    }

    /// Begins to make safe all that was said so far, without waiting for it; the next [`Self::commit`] does.
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

    /// The measuring clock.
    pub(crate) fn clock_ms(&self) -> u64 {
        millis(self.config.clock.elapsed())
    }

    pub(crate) fn progress(&self) -> RunProgress {
        let (steering, follow_ups) = self.config.control.queue_lengths();
        RunProgress {
            turns: self.state.turns,
            tokens: self.state.tokens_spent,
            elapsed_ms: self.clock_ms().saturating_sub(self.state.started_ms),
            expects_answer: self.state.expects_answer,
            queued: steering + follow_ups,
            last_stop: self.state.stops.last,
        }
    }

    /// A message of the turn that is under way.
    pub(crate) fn tag(&self, message: Message) -> Arc<AgentMessage> {
        let turn_id = self
            .state
            .turn
            .as_ref()
            .map(|turn| TurnId { run_id: self.identity.run_id.clone(), index: turn.index });
        Arc::new(AgentMessage::Llm(LlmMessage { message, turn_id }))
    }

    /// Puts a message into the conversation and the log.
    pub(crate) fn enter(&mut self, message: Arc<AgentMessage>) {
        self.emit(AgentEvent::Message(MessageEvent::Start { message: Arc::clone(&message) }));
        self.enter_announced(message);
    }

    /// Puts a message that the run makes now into the conversation and the log. It has the time of its first event, so
    /// that the log has every reading of the clock.
    pub(crate) fn enter_now(&mut self, make: impl FnOnce(Timestamp) -> Message) -> Arc<AgentMessage> {
        let now = self.now();
        let message = self.tag(make(now));
        self.log.emit_at(now, AgentEvent::Message(MessageEvent::Start { message: Arc::clone(&message) }));
        self.enter_announced(Arc::clone(&message));
        message
    }

    /// Puts a message whose start is out into the conversation and the log. Whoever sees its end finds it there.
    pub(crate) fn enter_announced(&mut self, message: Arc<AgentMessage>) {
        self.state.push(Arc::clone(&message));
        self.publish();
        self.emit(AgentEvent::Message(MessageEvent::End { message }));
    }

    /// Lets others see the conversation as it stands.
    pub(crate) fn publish(&self) {
        if let Some(mirror) = &self.mirror {
            let mut shared = mirror.lock().unwrap_or_else(PoisonError::into_inner);
            shared.conversation.clone_from(&self.state.conversation);
        }
    }

    /// Hands what only one run can hold to the next.
    pub(crate) fn hand_off(&mut self) {
        if let Some(mirror) = &self.mirror {
            let mut shared = mirror.lock().unwrap_or_else(PoisonError::into_inner);
            shared.call_ids = std::mem::take(&mut self.state.call_ids);
            shared.meter = std::mem::take(&mut self.meter);
        }
    }

    /// The turn that is under way. Steps run only inside one; outside, they see an empty one.
    pub(crate) fn turn(&mut self) -> &mut OpenTurn {
        self.state.turn.get_or_insert_default()
    }
}
