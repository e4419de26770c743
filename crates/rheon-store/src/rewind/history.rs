//! `RewindHistory`: where the log of a session can be cut, and which checkpoints it has.

use std::collections::{BTreeMap, BTreeSet};

use rheon_types::{
    AgentEvent, Effect, Event, MessageEvent, ModelEvent, RunEvent, SessionEvent, SessionId, ToolEvent,
    ToolName, TurnEvent,
};

use crate::checkpoint::{CheckpointId, CheckpointMoment, CheckpointSummary};
use crate::fold::SessionState;
use crate::session_name::SessionName;
use crate::sessions::{SessionFileError, SessionFiles};

/// How many tools are named.
const TOOLS_MAX: usize = 20;

/// Where the log of a session can be cut, and which checkpoints it has.
#[derive(Debug)]
pub(super) struct RewindHistory {
    pub(super) state: SessionState,
    session_id: SessionId,
    /// By the number of the event that ends a message.
    cut_points: BTreeMap<u64, CutPoints>,
    /// The `checkpoint` events in order.
    checkpoints: Vec<(u64, String)>,
    /// Calls that may have changed files, in order.
    changing: Vec<(u64, ToolName)>,
    /// The sessions these events come from, with the last event of each.
    sessions: Vec<(SessionId, u64)>,
    /// The last event that is not a start event.
    settled: u64,
    /// The message that following end events still belong to.
    last_message: Option<u64>,
}

/// The last event to keep when cutting at a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutPoints {
    /// If the message is removed.
    pub(super) before: u64,
    /// If the message stays.
    pub(super) after: u64,
}

/// The saved state of the files at a position in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FilesAt {
    /// The session has changed no files since.
    Unchanged,
    Saved(CheckpointId),
    /// The checkpoint was removed.
    Pruned(String),
}

impl RewindHistory {
    pub(super) fn read(sessions: &SessionFiles, name: &SessionName) -> Result<Self, SessionFileError> {
        let mut history = Self {
            state: SessionState::new(),
            session_id: name.session_id(),
            cut_points: BTreeMap::new(),
            checkpoints: Vec::new(),
            changing: Vec::new(),
            sessions: Vec::new(),
            settled: 0,
            last_message: None,
        };
        sessions.read(name, |event| history.apply(&event))?;
        Ok(history)
    }

    fn apply(&mut self, event: &Event) {
        if !event.kind.is_durable() {
            return;
        }
        self.state.apply(event);
        match self.sessions.last_mut() {
            Some((session, last)) if *session == event.session_id => *last = event.seq,
            Some(_) | None => self.sessions.push((event.session_id.clone(), event.seq)),
        }
        match &event.kind {
            AgentEvent::Session(SessionEvent::Checkpoint { id, .. }) => {
                self.checkpoints.push((event.seq, id.clone()))
            }
            AgentEvent::Tool(ToolEvent::Start {
                name, effect: Effect::Idempotent | Effect::Unsafe, ..
            }) => {
                self.changing.push((event.seq, name.clone()));
            }
            AgentEvent::Message(MessageEvent::End { .. }) => {
                self.cut_points.insert(event.seq, CutPoints { before: self.settled, after: event.seq });
            }
            _ => {}
        }
        self.advance(event);
    }

    fn advance(&mut self, event: &Event) {
        match &event.kind {
            AgentEvent::Message(MessageEvent::End { .. }) => self.last_message = Some(event.seq),
            // End events stay with the message before them, so that a completed run stays completed.
            AgentEvent::Model(ModelEvent::End { .. })
            | AgentEvent::Turn(TurnEvent::End { .. })
            | AgentEvent::Run(RunEvent::End { .. }) => {
                if let Some(cut_points) = self.last_message.and_then(|seq| self.cut_points.get_mut(&seq)) {
                    cut_points.after = event.seq;
                }
            }
            _ => self.last_message = None,
        }
        // Start events belong to the message after them.
        match &event.kind {
            AgentEvent::Run(RunEvent::Start { .. })
            | AgentEvent::Turn(TurnEvent::Start { .. })
            | AgentEvent::Model(ModelEvent::Start { .. })
            | AgentEvent::Message(MessageEvent::Start { .. }) => {}
            _ => self.settled = event.seq,
        }
    }

    /// Where the log can be cut around the message that ended with event `seq`.
    pub(super) fn cut_points(&self, seq: u64) -> Option<CutPoints> {
        self.cut_points.get(&seq).copied()
    }

    /// The sessions these events come from, oldest first.
    pub(super) fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.sessions.iter().map(|(session, _)| session)
    }

    /// The saved state of the files after event `cut`: the checkpoint made before the first change after it. If the
    /// program was interrupted before logging a checkpoint, the checkpoint is found by its moment.
    pub(super) fn files_at(&self, cut: u64, listed: &[CheckpointSummary]) -> FilesAt {
        let logged = self.checkpoints.iter().find(|(seq, _)| *seq > cut);
        let moments = listed.iter().filter(|it| it.moment.seq >= cut && self.belongs_to_session(it));
        let unlogged = moments.min_by_key(|it| (it.moment.seq, it.id.clone()));
        match (logged, unlogged) {
            (None, None) => FilesAt::Unchanged,
            (None, Some(unlogged)) => FilesAt::Saved(unlogged.id.clone()),
            // The log entry of a checkpoint follows the event its moment names.
            (Some((seq, _)), Some(unlogged)) if unlogged.moment.seq.saturating_add(1) < *seq => {
                FilesAt::Saved(unlogged.id.clone())
            }
            (Some((_, id)), _) => match listed.iter().find(|it| it.id.as_str() == id) {
                Some(found) => FilesAt::Saved(found.id.clone()),
                None => FilesAt::Pruned(id.clone()),
            },
        }
    }

    /// Whether a checkpoint was made for a change in this log. Checkpoints made before a rewind were not.
    fn belongs_to_session(&self, listed: &CheckpointSummary) -> bool {
        let CheckpointMoment { session_id: Some(session_id), seq, .. } = &listed.moment else { return false };
        // Changes that the parent session made after the fork are not in this log.
        let is_inherited = || self.sessions.iter().any(|(other, last)| other == session_id && seq < last);
        *seq > 0 && (*session_id == self.session_id || is_inherited())
    }

    /// The tools that may have changed files after event `cut` and before the next checkpoint.
    pub(super) fn unguarded(&self, cut: u64) -> Vec<ToolName> {
        let first = self.checkpoints.iter().map(|(seq, _)| *seq).find(|seq| *seq > cut).unwrap_or(u64::MAX);
        let calls = self.changing.iter().filter(|(seq, _)| *seq > cut && *seq < first);
        let names: BTreeSet<&str> = calls.map(|(_, name)| name.as_str()).collect();
        names.into_iter().take(TOOLS_MAX).map(ToolName::from).collect()
    }
}
