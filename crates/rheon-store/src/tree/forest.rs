//! The sessions of a recorder, and the position of each loop in them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rheon_types::{AgentEvent, AgentId, Event, RunEvent, RunId, SessionId, Timestamp};

use super::loop_record::LoopRecord;
use super::recorder_config::{DroppedCounts, SessionFormationPolicy, SessionRecorderConfig};
use super::session::{Session, SessionFormation};

/// How many drained agents and sessions are remembered.
const REMEMBERED_MAX: usize = 20_000;

/// The sessions of a recorder.
#[derive(Debug)]
pub(super) struct Forest {
    pub(super) config: SessionRecorderConfig,
    pub(super) dropped: DroppedCounts,
    trees: BTreeMap<SessionId, Tree>,
    positions: HashMap<RunId, LoopPosition>,
    /// By the session id in events: the session its loops are added to.
    formed: BTreeMap<SessionId, FormedSession>,
    agents: BTreeSet<AgentId>,
    open: usize,
    closed: usize,
}

#[derive(Debug)]
struct Tree {
    session: Session,
    open: usize,
}

#[derive(Debug, Clone)]
struct LoopPosition {
    session_id: SessionId,
    index: usize,
}

#[derive(Debug, Clone)]
struct FormedSession {
    session_id: SessionId,
    formation: SessionFormation,
    last_active_at: Timestamp,
}

impl Forest {
    pub(super) fn new(config: SessionRecorderConfig) -> Self {
        Self {
            config,
            dropped: DroppedCounts::default(),
            trees: BTreeMap::new(),
            positions: HashMap::new(),
            formed: BTreeMap::new(),
            agents: BTreeSet::new(),
            open: 0,
            closed: 0,
        }
    }

    pub(super) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.trees.values().map(|tree| &tree.session)
    }

    pub(super) fn session(&self, id: &SessionId) -> Option<&Session> {
        self.trees.get(id).map(|tree| &tree.session)
    }

    pub(super) fn session_mut(&mut self, id: &SessionId) -> Option<&mut Session> {
        self.trees.get_mut(id).map(|tree| &mut tree.session)
    }

    /// The session that contains the loop.
    pub(super) fn session_of(&self, loop_id: &RunId) -> Option<&SessionId> {
        self.positions.get(loop_id).map(|position| &position.session_id)
    }

    pub(super) fn record(&self, loop_id: &RunId) -> Option<&LoopRecord> {
        let position = self.positions.get(loop_id)?;
        self.trees.get(&position.session_id)?.session.loops.get(position.index)
    }

    pub(super) fn record_mut(&mut self, loop_id: &RunId) -> Option<&mut LoopRecord> {
        let position = self.positions.get(loop_id)?;
        self.trees.get_mut(&position.session_id)?.session.loops.get_mut(position.index)
    }

    /// Creates a record for the loop, if it has none and the limits allow it. `event` is its first event.
    pub(super) fn add_loop(&mut self, loop_id: &RunId, event: &Event) {
        if self.positions.contains_key(loop_id) {
            return;
        }
        if self.open >= self.config.open_loops_max || self.closed >= self.config.closed_loops_max {
            self.dropped.loops = self.dropped.loops.saturating_add(1);
            return;
        }
        let session_id = self.session_for(event);
        let Some(tree) = self.trees.get_mut(&session_id) else { return };
        let index = tree.session.loops.len();
        tree.session.loops.push(LoopRecord::pending(loop_id.clone(), session_id.clone(), event.at));
        tree.open += 1;
        self.open += 1;
        self.positions.insert(loop_id.clone(), LoopPosition { session_id, index });
    }

    /// Adds the event to the record of its loop.
    pub(super) fn add_event(&mut self, event: &Event) {
        let events_max = self.config.loop_events_max;
        let Some(position) = event.run_id.as_ref().and_then(|id| self.positions.get(id)) else {
            return self.lose();
        };
        let Some(tree) = self.trees.get_mut(&position.session_id) else { return self.lose() };
        let Some(record) = tree.session.loops.get_mut(position.index) else { return self.lose() };
        let was_open = record.status.is_open();
        record.apply(event);
        let is_kept = record.keep(event, events_max);
        if was_open && !record.status.is_open() {
            tree.open = tree.open.saturating_sub(1);
            self.open = self.open.saturating_sub(1);
            self.closed += 1;
        }
        tree.session.last_active_at = tree.session.last_active_at.max(event.at);
        if let Some(formed) = self.formed.get_mut(&event.session_id)
            && formed.session_id == position.session_id
        {
            formed.last_active_at = tree.session.last_active_at;
        }
        if !is_kept {
            self.lose();
        }
    }

    fn lose(&mut self) {
        self.dropped.events = self.dropped.events.saturating_add(1);
    }

    /// Sets the agent of the loop's session, if it has none.
    pub(super) fn name_agent(&mut self, loop_id: &RunId, agent_id: &AgentId) {
        if self.agents.len() < REMEMBERED_MAX {
            self.agents.insert(agent_id.clone());
        }
        let Some(home) = self.session_of(loop_id).cloned() else { return };
        if let Some(session) = self.session_mut(&home)
            && session.agent_id.as_str().is_empty()
        {
            session.agent_id = agent_id.clone();
        }
    }

    /// Closes all open loops.
    pub(super) fn abandon_all(&mut self) {
        for tree in self.trees.values_mut() {
            let at = tree.session.last_active_at;
            for record in tree.session.loops.iter_mut().filter(|record| record.status.is_open()) {
                record.abandon(at);
                self.closed += 1;
            }
            tree.open = 0;
        }
        self.open = 0;
    }

    /// Takes out the sessions without an open loop, except those for which `is_held` returns true.
    pub(super) fn take_completed(&mut self, is_waiting: impl Fn(&Self, &Session) -> bool) -> Vec<Session> {
        let is_ripe = |tree: &&Tree| tree.open == 0 && !is_waiting(self, &tree.session);
        let ripe: Vec<SessionId> =
            self.trees.values().filter(is_ripe).map(|tree| tree.session.session_id.clone()).collect();
        let mut felled = Vec::with_capacity(ripe.len());
        for tree in ripe.iter().filter_map(|id| self.trees.remove(id)) {
            for record in &tree.session.loops {
                self.positions.remove(&record.loop_id);
            }
            self.closed = self.closed.saturating_sub(tree.session.loops.len());
            felled.push(tree.session);
        }
        felled
    }

    /// The session for a new loop of `event`, created if necessary.
    fn session_for(&mut self, event: &Event) -> SessionId {
        let formed = self.form(event);
        let session_id = formed.session_id.clone();
        self.trees.entry(session_id.clone()).or_insert_with(|| Tree {
            session: Session {
                session_id: session_id.clone(),
                agent_id: AgentId::from(""),
                created_at: event.at,
                last_active_at: event.at,
                formation: formed.formation.clone(),
                parent_spawn_ref: None,
                loops: Vec::new(),
            },
            open: 0,
        });
        if self.formed.len() >= REMEMBERED_MAX && !self.formed.contains_key(&event.session_id) {
            // Session ids start with their creation time, so this is an old one.
            self.formed.pop_first();
        }
        self.formed.insert(event.session_id.clone(), formed);
        session_id
    }

    fn form(&self, event: &Event) -> FormedSession {
        let Some(known) = self.formed.get(&event.session_id) else {
            let is_known = agent_of(event).is_some_and(|agent| self.agents.contains(agent));
            let formation = if is_known { SessionFormation::Explicit } else { SessionFormation::FirstLoop };
            return FormedSession {
                session_id: event.session_id.clone(),
                formation,
                last_active_at: event.at,
            };
        };
        let secs = match self.config.formation_policy {
            SessionFormationPolicy::PerSessionId => return known.clone(),
            SessionFormationPolicy::InactivityTimeout { secs } => secs,
        };
        let silence_ms = event.at.as_millis().saturating_sub(known.last_active_at.as_millis());
        let has_open = self.trees.get(&known.session_id).is_some_and(|tree| tree.open > 0);
        if has_open || silence_ms <= secs.saturating_mul(1_000) {
            return known.clone();
        }
        let previous_session_id = known.session_id.clone();
        FormedSession {
            session_id: SessionId::from(format!("{}-{}", event.session_id, event.at.as_millis())),
            formation: SessionFormation::InactivityTimeout { secs, previous_session_id },
            last_active_at: event.at,
        }
    }
}

fn agent_of(event: &Event) -> Option<&AgentId> {
    if let AgentEvent::Run(RunEvent::Start { agent_id, .. }) = &event.kind { Some(agent_id) } else { None }
}
