//! `Trace`: records and checks all events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_agent::replay::{Until, replay};
use rheon_types::event::OrderChecker;
use rheon_types::{AgentEvent, Event, SessionId};

use crate::text::{event_line, event_text};

/// Records every event and checks the order of events. Clones share one record.
#[derive(Clone, Default)]
pub struct Trace {
    record: Arc<Mutex<Record>>,
}

#[derive(Default)]
struct Record {
    events: Vec<Event>,
    order: OrderChecker,
    violations: Vec<String>,
    /// Why this trace cannot be replayed.
    unreplayable: Option<&'static str>,
}

impl Trace {
    /// An empty trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records one event.
    pub fn observe(&self, event: &Event) {
        let mut record = self.lock();
        if let Err(violation) = record.order.observe(event) {
            record.violations.push(violation.to_string());
        }
        record.events.push(event.clone());
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Event> {
        self.lock().events.clone()
    }

    /// All events so far as text, without deltas.
    pub fn durable_text(&self) -> String {
        event_text(self.lock().events.iter().filter(|event| event.kind.is_durable()))
    }

    /// All events so far as text.
    pub fn text(&self) -> String {
        event_text(&self.lock().events)
    }

    /// The lines that start with one of `starts`.
    pub fn only(&self, starts: &[&str]) -> String {
        let record = self.lock();
        let lines = record.events.iter().map(|event| event_line(&event.kind));
        let matching: Vec<String> =
            lines.filter(|line| starts.iter().any(|start| line.starts_with(start))).collect();
        matching.join("\n")
    }

    /// How many events satisfy `condition`.
    pub fn count(&self, condition: impl Fn(&AgentEvent) -> bool) -> usize {
        self.lock().events.iter().filter(|event| condition(&event.kind)).count()
    }

    /// Skips the replay check, because the run cannot be replayed from its log for this reason.
    pub fn skip_replay_check(&self, reason: &'static str) {
        self.lock().unreplayable = Some(reason);
    }

    /// Panics unless replaying the log gives exactly the same events.
    #[allow(clippy::panic, reason = "a test whose log cannot be replayed should fail")]
    pub fn assert_replays(&self) {
        let (events, unreplayable) = {
            let record = self.lock();
            (record.events.clone(), record.unreplayable)
        };
        if unreplayable.is_some() {
            return;
        }
        let mut sessions: Vec<(SessionId, Vec<Event>)> = Vec::new();
        for event in events.into_iter().filter(|event| event.kind.is_durable()) {
            match sessions.iter_mut().find(|(session_id, _)| *session_id == event.session_id) {
                Some((_, events)) => events.push(event),
                None => sessions.push((event.session_id.clone(), vec![event])),
            }
        }
        for (session_id, events) in sessions {
            if events.first().is_none_or(|event| event.seq != 1) {
                // The start of the session is not in this trace.
                continue;
            }
            if let Err(error) = replay(events.clone(), Until::End) {
                panic!("session {session_id}: {error}\n{}", event_text(&events));
            }
        }
    }

    /// Panics unless all events were in order, every run has ended, and the log can be replayed.
    pub fn assert_order(&self) {
        self.assert_only_order();
        self.assert_replays();
    }

    fn assert_only_order(&self) {
        let record = self.lock();
        let open = record.order.open_runs();
        assert!(
            record.violations.is_empty() && open.is_empty(),
            "violations: {:#?}\nopen runs: {open:?}\n{}",
            record.violations,
            event_text(&record.events)
        );
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
