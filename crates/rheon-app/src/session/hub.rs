//! `Hub`: what happens in a session, for everybody who watches it. One ring of recent events, the folded state, and the message
//! that is being written.
//!
//! Subscribers read the ring at their own pace; one that falls behind is served from the log, a page at a time. So a subscriber costs
//! no more than a page, and none of them can stop the run or another subscriber.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_store::fold::SessionState;
use rheon_types::protocol::{ActiveRun, CostReport, Cursor};
use rheon_types::{
    AgentEvent, ChildEvent, ClientError, ContextEvent, Event, MessageEvent, MicroUsd, ModelEvent, RunEvent,
    RunId, SessionEvent, SessionId, Timestamp, ToolCallId, ToolEvent, ToolName, Usage,
};
use tokio::sync::broadcast;

use super::children::{ChildPlace, ChildPlaces};
use super::past::{PAGE, Pages, Past};

/// How many recent events are buffered for slow subscribers.
const RECENT_EVENTS: usize = 2_048;

/// The hub of a session. Clones are the same one.
#[derive(Clone)]
pub(super) struct Hub {
    shared: Arc<Shared>,
}

struct Shared {
    session_id: SessionId,
    past: Past,
    recent_events_max: usize,
    state: Mutex<State>,
}

/// The current facts of the session.
struct State {
    /// Absent once the session is closed.
    recent: Option<broadcast::Sender<Arc<Event>>>,
    folded: SessionState,
    draft: Draft,
    spent: CostReport,
    title: Option<String>,
    /// The durable events of a session that is not saved, from when it was opened.
    memory: Option<Vec<Arc<Event>>>,
    children: ChildPlaces,
    at: Timestamp,
}

/// What the subscribers of a session cost: see [`LocalHost::load`](super::LocalHost::load).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLoad {
    pub subscribers: usize,
    /// How many recent events are buffered for slow subscribers.
    pub recent_events: usize,
    /// The maximum number of buffered events.
    pub recent_events_max: usize,
}

/// The state of the run in progress, from its deltas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) run_id: Option<RunId>,
    /// The number of the `message.start` of the answer that is being written.
    pub(super) started: Option<u64>,
    pub(super) at: Timestamp,
    pub(super) text: String,
    pub(super) thinking: String,
    tools: Vec<(ToolCallId, ToolName)>,
}

/// Where a subscriber begins: what was published before is in `cursor` and `draft`, what follows comes through `recent`.
pub(super) struct Joined {
    pub(super) recent: broadcast::Receiver<Arc<Event>>,
    pub(super) cursor: Cursor,
    pub(super) draft: Draft,
    pub(super) children: ChildPlaces,
    pub(super) at: Timestamp,
}

/// A view of the state at one moment.
pub(super) struct View {
    pub(super) cursor: Cursor,
    pub(super) folded: SessionState,
    pub(super) run: Option<ActiveRun>,
    pub(super) spent: CostReport,
}

impl Hub {
    /// The hub of a session with the earlier state `folded`.
    pub(super) fn new(session_id: SessionId, folded: SessionState, past: Past) -> Self {
        Self::keeping(RECENT_EVENTS, session_id, folded, past)
    }

    /// The same, with a given number of buffered events.
    pub(super) fn keeping(events: usize, session_id: SessionId, folded: SessionState, past: Past) -> Self {
        let ledger = folded.ledger();
        let spent = CostReport {
            tokens: ledger.tokens.spent,
            cost: MicroUsd(ledger.micro_usd.spent),
            ..CostReport::default()
        };
        let recent = Some(broadcast::Sender::new(events));
        let title = folded.chosen.title.clone();
        let state = State {
            recent,
            folded,
            draft: Draft::default(),
            spent,
            title,
            memory: None,
            children: ChildPlaces::new(),
            at: Timestamp::default(),
        };
        let state = Mutex::new(state);
        Self { shared: Arc::new(Shared { session_id, past, recent_events_max: events, state }) }
    }

    /// The same for a session that is not saved: the hub buffers all events for slow subscribers.
    pub(super) fn remembering(self) -> Self {
        self.state().memory = Some(Vec::new());
        self
    }

    /// The session.
    pub(super) fn session_id(&self) -> &SessionId {
        &self.shared.session_id
    }

    /// Takes in an event, of this session or of a child of it, and shows it to all.
    pub(super) fn publish(&self, event: &Arc<Event>) {
        let mut state = self.state();
        state.at = event.at;
        if event.session_id != self.shared.session_id {
            state.see_child(event);
        } else {
            state.apply(event);
            if let Some(memory) = state.memory.as_mut().filter(|_| event.kind.is_durable()) {
                memory.push(Arc::clone(event));
            }
        }
        if let Some(recent) = &state.recent {
            // Without subscribers there is nothing to do.
            recent.send(Arc::clone(event)).ok();
        }
    }

    /// Joins now. There is no gap between the returned view and the events in the ring.
    pub(super) fn join(&self) -> Result<Joined, ClientError> {
        let state = self.state();
        let Some(recent) = &state.recent else { return Err(closed()) };
        Ok(Joined {
            recent: recent.subscribe(),
            cursor: state.cursor(),
            draft: state.draft.clone(),
            children: state.children.clone(),
            at: state.at,
        })
    }

    /// The children that run, as far as the session was shown them.
    pub(super) fn children(&self) -> ChildPlaces {
        self.state().children.clone()
    }

    /// What its subscribers cost now.
    pub(super) fn load(&self) -> SessionLoad {
        let state = self.state();
        let recent = state.recent.as_ref();
        SessionLoad {
            subscribers: recent.map_or(0, broadcast::Sender::receiver_count),
            recent_events: recent.map_or(0, broadcast::Sender::len),
            recent_events_max: self.shared.recent_events_max,
        }
    }

    /// The current state of the session.
    pub(super) fn view(&self) -> View {
        let state = self.state();
        let run = state.draft.run_id.as_ref().map(|run_id| ActiveRun {
            run_id: Some(run_id.clone()),
            text: state.draft.text.clone(),
            thinking: state.draft.thinking.clone(),
            tools: state.draft.tools.clone(),
        });
        View { cursor: state.cursor(), folded: state.folded.clone(), run, spent: state.spent }
    }

    /// What the session has spent.
    pub(super) fn spent(&self) -> CostReport {
        self.state().spent
    }

    /// Its title, where it was given one.
    pub(super) fn title(&self) -> Option<String> {
        self.state().title.clone()
    }

    /// The number of the last durable event.
    pub(super) fn seq(&self) -> u64 {
        self.state().folded.seq
    }

    /// The next durable events after `after`, at most a page, where the hub itself keeps them.
    pub(super) fn remembered(&self, session_id: &SessionId, after: u64) -> Option<Vec<Arc<Event>>> {
        let state = self.state();
        let memory = state.memory.as_ref().filter(|_| *session_id == self.shared.session_id)?;
        // What happened before the session was opened is in its log, if it is anywhere.
        let first = memory.first().map_or(state.folded.seq + 1, |event| event.seq);
        if after + 1 < first {
            return None;
        }
        let seen = memory.partition_point(|event| event.seq <= after);
        Some(memory.iter().skip(seen).take(PAGE.events_max).cloned().collect())
    }

    /// The log of this session or of a child.
    pub(super) fn past(&self, session_id: &SessionId) -> Box<dyn Pages> {
        (self.shared.past)(session_id)
    }

    /// Ends all subscriptions once they have shown what was published.
    pub(super) fn close(&self) {
        self.state().recent = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of everything that comes after the end.
pub(super) fn closed() -> ClientError {
    ClientError::closed("the session is closed")
}

impl State {
    fn cursor(&self) -> Cursor {
        Cursor {
            seq: self.folded.seq,
            text_bytes: self.draft.text.len() as u64,
            thinking_bytes: self.draft.thinking.len() as u64,
        }
    }

    /// Takes in an event of a child.
    fn see_child(&mut self, event: &Event) {
        if event.kind.is_durable() {
            let first = ChildPlace { before: event.seq.saturating_sub(1), seq: event.seq };
            self.children.entry(event.session_id.clone()).or_insert(first).seq = event.seq;
        }
    }

    fn apply(&mut self, event: &Event) {
        self.folded.apply(event);
        match &event.kind {
            AgentEvent::Child(ChildEvent::End { child, .. }) => {
                self.children.remove(&child.session_id);
            }
            AgentEvent::Run(RunEvent::Start { .. }) => {
                self.draft = Draft { run_id: event.run_id.clone(), ..Draft::default() };
            }
            AgentEvent::Run(RunEvent::End { .. }) => {
                self.draft = Draft::default();
                self.children.clear();
            }
            AgentEvent::Message(event_of_message) => {
                self.draft.at = event.at;
                self.draft.message(event.seq, event_of_message);
            }
            AgentEvent::Tool(ToolEvent::Start { call_id, name, .. }) => {
                self.draft.tools.push((call_id.clone(), name.clone()));
            }
            AgentEvent::Tool(ToolEvent::End { call_id, .. }) => {
                self.draft.tools.retain(|(running, _)| running != call_id);
            }
            AgentEvent::Model(ModelEvent::End { usage, cost, .. })
            | AgentEvent::Context(ContextEvent::CompactionEnd { usage, cost, .. }) => {
                self.spend(usage, *cost)
            }
            AgentEvent::Session(SessionEvent::Title { .. }) => {
                self.title.clone_from(&self.folded.chosen.title);
            }
            _ => {}
        }
    }

    fn spend(&mut self, usage: &Usage, cost: Option<MicroUsd>) {
        self.spent.tokens = self.spent.tokens.saturating_add(usage.total());
        self.spent.cost = MicroUsd(self.spent.cost.0.saturating_add(cost.unwrap_or_default().0));
        self.spent.has_unknown |= cost.is_none() && usage.total() > 0;
    }
}

impl Draft {
    fn message(&mut self, seq: u64, event: &MessageEvent) {
        match event {
            MessageEvent::Start { message } if message.as_assistant().is_some() => {
                self.started = Some(seq);
                self.text.clear();
                self.thinking.clear();
            }
            MessageEvent::End { message } if message.as_assistant().is_some() => {
                self.started = None;
                self.text.clear();
                self.thinking.clear();
            }
            MessageEvent::TextDelta { delta } => self.text.push_str(delta),
            MessageEvent::ThinkingDelta { delta } => self.thinking.push_str(delta),
            _ => {}
        }
    }
}
