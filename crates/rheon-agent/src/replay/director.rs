//! `Director`: tracks the loop's position in its script, compares every event with it and tells the recorded services
//! what comes next.

use std::collections::HashSet;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::Responder;
use rheon_types::{
    AgentEvent, AgentMessage, Answer, ApprovalEvent, Author, ContextEvent, Event, Message, MessageEvent,
    ModelEvent, RunEvent, Store, StoreError, Timestamp, ToolCallId, ToolEvent, TurnEvent,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::difference::ReplayDifference;
use super::script::{Entry, Script, StopCause};
use crate::control::{ApproverGuard, Control, QueueMode};
use crate::log::EventLog;
use crate::step::execute::SKIPPED;

/// Directs one run. It observes the run's log and sees every event as it is emitted.
pub(super) struct Director {
    pub(super) script: Script,
    /// The number of the last event to replay.
    pub(super) last: u64,
    pub(super) control: Control,
    approver: ApproverGuard,
    pub(super) token: CancellationToken,
    pub(super) passed: Arc<AtomicBool>,
    /// The observed log; released at the end, because it holds this as its store.
    log: Mutex<Option<EventLog>>,
    /// Wakes tasks that wait for their position in the script.
    pub(super) changed: Notify,
    /// Counts all activity, to detect a loop that waits forever.
    pub(super) steps: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The index of the next event.
    pub(super) next: usize,
    pub(super) replayed: Vec<Event>,
    /// The number of copied events.
    pub(super) taken: usize,
    pub(super) difference: Option<ReplayDifference>,
    /// The replay is finished; later activity is ignored.
    pub(super) is_over: bool,
    /// The recorded panic was replayed; closing the run must not count as another panic.
    pub(super) has_panicked: bool,
    /// The next clock reading is the start of a measurement.
    pub(super) is_start_due: bool,
    /// The price of the current model call was returned.
    pub(super) is_cost_returned: bool,
    /// The estimated price of the current model call was returned.
    pub(super) is_estimate_returned: bool,
    /// The tokens of hidden attempts were returned.
    pub(super) is_hidden_returned: bool,
    /// Tools that returned their result.
    pub(super) returned: HashSet<ToolCallId>,
    /// Calls whose result includes everything hooks added.
    pub(super) added: HashSet<ToolCallId>,
}

impl Director {
    pub(super) fn new(script: Script, last: u64) -> Arc<Self> {
        let control = Control::new(QueueMode::All, QueueMode::All);
        let approver = control.attach_approver();
        Arc::new(Self {
            script,
            last,
            control,
            approver,
            token: CancellationToken::new(),
            passed: Arc::default(),
            log: Mutex::default(),
            changed: Notify::new(),
            steps: AtomicU64::new(0),
            state: Mutex::default(),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index of the next event.
    pub(super) fn next(&self) -> usize {
        self.state().next
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// When the next event happened.
    pub(super) fn now(&self) -> Timestamp {
        let place = self.next();
        let event = self.script.event(place).or_else(|| self.script.event(place.checked_sub(1)?));
        event.map(|event| event.at).unwrap_or_default()
    }

    /// Called at every point where the loop asks for something. A recorded panic happens again here, and a finished
    /// replay waits.
    pub(super) fn reached(&self) -> ScriptPosition {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let (place, is_over) = {
            let state = self.state();
            (state.next, state.is_over)
        };
        if is_over {
            return ScriptPosition::PastEnd;
        }
        if let Some(stopped @ StopCause::Panicked(_)) = self.script.stops_at(place) {
            self.stop_or_panic(stopped);
        }
        ScriptPosition::At(place)
    }

    /// Stops the run as recorded, also by a panic.
    pub(super) fn stop_or_panic(&self, stopped: StopCause) {
        if let StopCause::Panicked(message) = stopped {
            if !std::mem::replace(&mut self.state().has_panicked, true) {
                // Do not print the panic again; the recorded run already did.
                std::panic::resume_unwind(Box::new(message));
            }
        } else {
            self.stop(&stopped);
        }
    }

    /// Stops the run as recorded. A panic happens at the next point where the loop asks for something.
    pub(super) fn stop(&self, stopped: &StopCause) {
        match stopped {
            StopCause::Cancelled => self.token.cancel(),
            StopCause::OutOfTime => {
                self.passed.store(true, Ordering::Release);
                self.token.cancel();
            }
            StopCause::Unstored(_) | StopCause::Panicked(_) => {}
        }
    }

    /// Observes `log`.
    pub(super) fn watch(&self, log: &EventLog) {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Some(log.clone());
    }

    /// Stops observing the run.
    pub(super) fn finish(&self) {
        self.state().is_over = true;
        self.log.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.changed.notify_waiters();
    }

    /// Copies events that the loop did not produce.
    fn take_from_outside(&self, state: &mut State, place: usize) {
        for event in self.script.outside(place).iter().take_while(|event| event.seq <= self.last) {
            state.replayed.push(event.clone());
            state.taken += 1;
            if let Some(log) = self.log.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
                log.take_in(&event.kind);
            }
        }
    }

    /// Compares an event with the script. Returns its index if it matches and more events follow.
    fn compare(&self, event: &Event) -> Option<usize> {
        let mut state = self.state();
        if state.is_over {
            return None;
        }
        let place = state.next;
        let difference = match self.script.event(place) {
            Some(recorded) if recorded.seq > self.last => {
                state.is_over = true;
                return None;
            }
            Some(recorded) => ReplayDifference::between(recorded, event),
            // After the last event of an incomplete run, the loop may continue freely.
            None if self.script.recorded.end().is_none() => {
                state.is_over = true;
                return None;
            }
            None => Some(ReplayDifference::surplus(event)),
        };
        if difference.is_some() {
            state.difference = difference;
            state.is_over = true;
            return None;
        }
        state.replayed.push(event.clone());
        state.next += 1;
        state.is_start_due = matches!(
            event.kind,
            AgentEvent::Model(ModelEvent::Start { .. }) | AgentEvent::Tool(ToolEvent::Start { .. })
        );
        if let AgentEvent::Model(ModelEvent::Start { .. }) = event.kind {
            (state.is_cost_returned, state.is_hidden_returned) = (false, false);
            state.is_estimate_returned = false;
        }
        self.take_from_outside(&mut state, place);
        state.is_over = self.script.event(state.next).is_none();
        Some(place)
    }

    /// Prepares what the loop needs after the event at `place`.
    fn prepare(&self, place: usize, event: &AgentEvent) {
        let next = self.next();
        match event {
            AgentEvent::Turn(TurnEvent::Start { turn_index, .. }) => self.queue_messages(*turn_index, next),
            AgentEvent::Turn(TurnEvent::End { tool_results, .. }) if tool_results.is_empty() => {
                self.keep_going(next)
            }
            // A compaction run has no prompt, so if it continued, a message was queued.
            AgentEvent::Context(ContextEvent::CompactionEnd { .. })
                if next == 3 && self.script.is_compaction() =>
            {
                self.keep_going(next);
            }
            _ => {}
        }
        match self.script.kind(next) {
            Some(AgentEvent::Tool(ToolEvent::Blocked { reason, .. })) if reason == SKIPPED => {
                self.queue_blank()
            }
            Some(AgentEvent::Approval(ApprovalEvent::Resolved { request_id, .. })) => {
                match self.script.response(place, request_id.as_str()) {
                    // The answer may come too late; the next event shows it.
                    Some((response, Responder::User)) => {
                        self.approver.respond(request_id, response).ok();
                    }
                    Some((_, Responder::NonInteractive)) => self.control.withdraw(request_id),
                    Some((_, Responder::Hook | Responder::Cancelled)) | None => {}
                }
            }
            _ => {}
        }
    }

    /// Queues the messages that the turn took from the queues.
    fn queue_messages(&self, turn_index: u32, next: usize) {
        let mut entries = self.script.messages_from(next);
        if turn_index == 0 {
            // Prompts are passed at the start of the run.
            let prompts = self.prompts_len(&entries);
            entries.drain(..prompts);
        } else if self.is_reminder(next) {
            entries.drain(..1);
        }
        let is_empty = entries.is_empty();
        let is_input = |at: &usize| match self.script.kind(*at) {
            Some(
                AgentEvent::Run(RunEvent::InputRejected { .. })
                | AgentEvent::Message(MessageEvent::End { .. }),
            ) => true,
            Some(AgentEvent::Message(MessageEvent::Start { message })) => message.as_assistant().is_none(),
            Some(_) | None => false,
        };
        let after = (next..).find(|at| !is_input(at)).unwrap_or(next);
        for entry in entries {
            self.control.steer(match entry {
                Entry::Message(message) => AgentMessage::clone(&message),
                Entry::Rejected => placeholder(),
            });
        }
        if !matches!(self.script.kind(after), Some(AgentEvent::Turn(TurnEvent::End { message: None, .. }))) {
            return;
        }
        match self.script.stops_at(after) {
            // A filter panicked on a message that never entered the conversation.
            Some(StopCause::Panicked(_)) => self.control.steer(placeholder()),
            // The run was stopped while filters checked a message, which then returned to its queue.
            Some(StopCause::Cancelled | StopCause::OutOfTime) if is_empty => {
                self.control.steer(placeholder());
            }
            Some(StopCause::Cancelled | StopCause::OutOfTime | StopCause::Unstored(_)) | None => {}
        }
    }

    /// The number of prompts among the messages of the first turn.
    pub(super) fn prompts_len(&self, entries: &[Entry]) -> usize {
        match self.script.kind(0) {
            Some(AgentEvent::Run(RunEvent::Start { continuation: None, .. }))
                if !self.script.is_compaction() =>
            {
                entries.iter().take_while(|entry| matches!(entry, Entry::Message(_))).count()
            }
            _ => 0,
        }
    }

    /// Whether the message at `place` was requested by a hook: the run created it at that moment.
    pub(super) fn is_reminder(&self, place: usize) -> bool {
        let Some(event) = self.script.event(place) else { return false };
        let before = place.checked_sub(2).and_then(|place| self.script.kind(place));
        let AgentEvent::Message(MessageEvent::Start { message }) = &event.kind else { return false };
        let is_note = match message.as_llm() {
            Some(Message::User(user)) => user.author == Author::Runtime && user.timestamp == event.at,
            Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
        };
        is_note
            && matches!(before, Some(AgentEvent::Turn(TurnEvent::End { tool_results, .. })) if tool_results.is_empty())
    }

    /// After a turn that leaves nothing to answer, the run continues only if a message is queued.
    fn keep_going(&self, next: usize) {
        let waits = match self.script.kind(next) {
            Some(AgentEvent::Turn(TurnEvent::Start { .. })) => !self.is_reminder(next + 1),
            // A limit ends a run only if it would have continued.
            Some(AgentEvent::Message(MessageEvent::Start { .. })) => true,
            _ => false,
        };
        if waits {
            self.queue_blank();
        }
    }

    /// An empty message counts as queued and is dropped when its turn comes.
    fn queue_blank(&self) {
        self.control.steer(AgentMessage::user("", Timestamp::default()));
    }
}

/// A placeholder for an unknown message.
pub(super) fn placeholder() -> AgentMessage {
    AgentMessage::user("?", Timestamp::default())
}

/// The loop's position in the script.
pub(super) enum ScriptPosition {
    /// Before the event at this index.
    At(usize),
    /// After the last event to replay.
    PastEnd,
}

impl Director {
    /// Processes an event that the loop emitted.
    pub(super) fn observe(&self, event: &Event) {
        if !event.kind.is_durable() {
            return;
        }
        self.steps.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = self.compare(event) {
            self.prepare(place, &event.kind);
            if let Some(stopped) = self.script.stops_at(self.next()) {
                self.stop(&stopped);
            }
        }
        self.changed.notify_waiters();
    }
}

/// Stores nothing, and fails where the recorded store did.
impl Store for Director {
    fn append(&self, _event: &Event) -> Result<(), StoreError> {
        let state = self.state();
        match self.script.stops_at(state.next + 1) {
            Some(StopCause::Unstored(error)) if !state.is_over => Err(error),
            Some(_) | None => Ok(()),
        }
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        if self.is_over() { Answer::later(pending()) } else { Answer::Now(Ok(())) }
    }
}
