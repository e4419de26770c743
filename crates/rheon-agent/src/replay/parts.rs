//! Splits a log into its runs and the events between them. Pure.

use rheon_types::event::Responder;
use rheon_types::{
    AgentEvent, ApprovalEvent, BudgetEvent, ContextEvent, Event, HookPoint, MessageEvent, ModelEvent,
    PlanEvent, RunEnd, RunEvent, RunId, StopReason, ToolEvent, TurnEvent,
};

use super::error::ReplayError;
use crate::close::limit_in_note;

/// A part of a log.
#[derive(Debug)]
pub(super) enum LogPart {
    /// One run.
    Run(RecordedRun),
    /// An event outside a replayed run.
    Event(Box<Event>),
}

/// One run as it was recorded.
#[derive(Debug)]
pub(super) struct RecordedRun {
    /// All its events, including copied ones in between.
    pub(super) all: Vec<Event>,
    /// Its events, each with the copied events that followed it.
    pub(super) own: Vec<(Event, Vec<Event>)>,
    /// How many of its events the loop produced; later ones were added after a crash.
    pub(super) produced: usize,
    pub(super) run_id: RunId,
}

/// The parts of a log, in order.
pub(super) fn parts(events: impl IntoIterator<Item = Event>) -> Result<Vec<LogPart>, ReplayError> {
    let mut parts = Vec::new();
    let mut open: Option<(RunId, Vec<Event>)> = None;
    for event in events.into_iter().filter(|event| event.kind.is_durable()) {
        let is_end = matches!(event.kind, AgentEvent::Run(RunEvent::End { .. }));
        match &mut open {
            Some((run_id, run)) if event.belongs_to(run_id) || is_from_outside(&event.kind) => {
                let is_over = is_end && event.belongs_to(run_id);
                run.push(event);
                if is_over && let Some((run_id, events)) = open.take() {
                    parts.extend(one_run(run_id, events));
                }
            }
            Some((run_id, _)) => {
                let other = event.run_id.as_ref().map_or("none", RunId::as_str);
                let problem = format!("it belongs to run {other}, but run {run_id} is in progress");
                return Err(unsupported(&event, problem));
            }
            None => match (&event.kind, &event.run_id) {
                (AgentEvent::Run(RunEvent::End { .. }), Some(run_id)) => {
                    parts.push(LogPart::Run(RecordedRun::new(run_id.clone(), vec![event])));
                }
                (AgentEvent::Run(RunEvent::Start { .. }), Some(run_id)) => {
                    open = Some((run_id.clone(), vec![event]));
                }
                _ if is_from_outside(&event.kind) => parts.push(LogPart::Event(Box::new(event))),
                _ => return Err(unsupported(&event, "the start of its run is not in the log".into())),
            },
        }
    }
    if let Some((run_id, events)) = open {
        parts.extend(one_run(run_id, events));
    }
    Ok(parts)
}

/// A run, or its events one by one if it was imported (without settings), or if its window was measured before logs
/// contained window settings.
fn one_run(run_id: RunId, events: Vec<Event>) -> Vec<LogPart> {
    let settings = events.first().and_then(|event| match &event.kind {
        AgentEvent::Run(RunEvent::Start { settings, .. }) => settings.as_deref(),
        _ => None,
    });
    let is_of_window = |event: &Event| {
        matches!(
            &event.kind,
            AgentEvent::Context(ContextEvent::Usage { .. })
                | AgentEvent::Context(ContextEvent::CompactionWarning { .. })
                | AgentEvent::Context(ContextEvent::CompactionStart { .. })
                | AgentEvent::Context(ContextEvent::CompactionEnd { .. })
        )
    };
    let is_playable = match settings {
        None => false,
        Some(settings) => settings.window.is_some() || !events.iter().any(is_of_window),
    };
    if !is_playable {
        return events.into_iter().map(|event| LogPart::Event(Box::new(event))).collect();
    }
    vec![LogPart::Run(RecordedRun::new(run_id, events))]
}

fn unsupported(event: &Event, problem: String) -> ReplayError {
    ReplayError::Unsupported { seq: event.seq, name: event.kind.name().to_owned(), problem }
}

impl LogPart {
    /// The number of its first event.
    pub(super) fn first_seq(&self) -> u64 {
        match self {
            Self::Run(recorded) => recorded.first_seq(),
            Self::Event(event) => event.seq,
        }
    }
}

impl RecordedRun {
    /// The number of its first event.
    pub(super) fn first_seq(&self) -> u64 {
        self.all.first().map_or(0, |event| event.seq)
    }

    fn new(run_id: RunId, all: Vec<Event>) -> Self {
        let mut own: Vec<(Event, Vec<Event>)> = Vec::with_capacity(all.len());
        for event in &all {
            match own.last_mut() {
                Some((_, outside)) if is_from_outside(&event.kind) => outside.push(event.clone()),
                Some(_) | None => own.push((event.clone(), Vec::new())),
            }
        }
        let kinds: Vec<&AgentEvent> = own.iter().map(|(event, _)| &event.kind).collect();
        let mut produced = produced_by_loop(&kinds);
        // A session that continues from the middle of another session's run closes it under its own id.
        let session_id = own.first().map(|(event, _)| event.session_id.clone());
        let is_foreign = |(event, _): &(Event, Vec<Event>)| Some(&event.session_id) != session_id.as_ref();
        produced = own.iter().position(is_foreign).map_or(produced, |place| produced.min(place));
        Self { all, own, produced, run_id }
    }

    /// Why the run ended, if the loop reached its end.
    pub(super) fn end(&self) -> Option<&RunEnd> {
        match self.own.get(self.produced.checked_sub(1)?).map(|(event, _)| &event.kind) {
            Some(AgentEvent::Run(RunEvent::End { output })) => Some(&output.end),
            _ => None,
        }
    }
}

/// Whether an event was not produced by the loop and is copied.
pub(super) fn is_from_outside(kind: &AgentEvent) -> bool {
    match kind {
        AgentEvent::Session(_)
        | AgentEvent::Plan(PlanEvent::Tasks { .. } | PlanEvent::Resolved { .. })
        | AgentEvent::Run(RunEvent::Error { .. })
        | AgentEvent::Child(_)
        | AgentEvent::Context(ContextEvent::Tools { .. })
        | AgentEvent::Budget(BudgetEvent::Changed { .. })
        | AgentEvent::Unknown(_) => true,
        AgentEvent::Run(RunEvent::Hook { point, .. }) => {
            !matches!(point, HookPoint::PermitTool | HookPoint::BeforeCompaction)
        }
        _ => false,
    }
}

/// The wording a store uses when it closes a run after a crash.
const CRASH_WORDS: [&str; 2] = ["the program ended before", "the program ended while"];

/// How many of the events the loop produced. A run that was closed after a crash ends with events that no loop
/// produced.
fn produced_by_loop(kinds: &[&AgentEvent]) -> usize {
    let Some(AgentEvent::Run(RunEvent::End { output })) = kinds.last() else { return kinds.len() };
    if output.end != RunEnd::Aborted {
        return kinds.len();
    }
    if let Some(last) = kinds.iter().rposition(|kind| !is_end(kind))
        && kinds.get(last).is_some_and(|kind| continues_immediately(kind))
    {
        return last + 1;
    }
    let Some(first) = kinds.iter().position(|kind| is_closing(kind)) else {
        let is_closed = output.cost.is_none() && is_cost_known(kinds);
        return kinds.len() - usize::from(is_closed);
    };
    // The events right before it may belong to the closing too: its start, and withdrawn requests.
    let is_before = |kind: &&&AgentEvent| match kind {
        AgentEvent::Approval(ApprovalEvent::Resolved { by: Responder::Cancelled, .. }) => true,
        AgentEvent::Message(MessageEvent::Start { message }) => {
            message.as_assistant().is_some_and(|answer| answer.error_message.is_some())
        }
        _ => false,
    };
    first - kinds.iter().take(first).rev().take_while(is_before).count()
}

/// Whether this ends a turn without a model call, or a run.
fn is_end(kind: &AgentEvent) -> bool {
    matches!(
        kind,
        AgentEvent::Turn(TurnEvent::End { message: None, .. }) | AgentEvent::Run(RunEvent::End { .. })
    )
}

/// Whether the loop continues immediately after this event, so that only a crash can prevent the next one.
fn continues_immediately(kind: &AgentEvent) -> bool {
    match kind {
        AgentEvent::Context(ContextEvent::Usage { .. })
        | AgentEvent::Context(ContextEvent::CompactionWarning { .. })
        | AgentEvent::Context(ContextEvent::CompactionEnd { .. })
        | AgentEvent::Budget(BudgetEvent::Warning { .. })
        | AgentEvent::Budget(BudgetEvent::Exceeded { .. }) => true,
        AgentEvent::Message(MessageEvent::End { message }) => limit_in_note(message).is_some(),
        _ => false,
    }
}

/// Whether this event closed a run after a crash.
fn is_closing(kind: &AgentEvent) -> bool {
    let is_crash = |text: &str| CRASH_WORDS.iter().any(|words| text.contains(words));
    match kind {
        AgentEvent::Message(MessageEvent::End { message }) => message.as_assistant().is_some_and(|answer| {
            answer.stop_reason == StopReason::Aborted && answer.error_message.as_deref().is_some_and(is_crash)
        }),
        AgentEvent::Model(ModelEvent::End {
            stop_reason: StopReason::Aborted, first_token_ms: None, ..
        }) => true,
        AgentEvent::Tool(ToolEvent::End { result, is_error: true, .. }) => is_crash(&result.as_text()),
        AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) => is_crash(reason),
        _ => false,
    }
}

/// Whether every model call has a known price and there was at least one. A store that closes a run does not know
/// prices.
fn is_cost_known(kinds: &[&AgentEvent]) -> bool {
    let costs = kinds.iter().filter_map(|kind| match kind {
        AgentEvent::Model(ModelEvent::End { cost, .. }) => Some(cost.is_some()),
        _ => None,
    });
    let known: Vec<bool> = costs.collect();
    !known.is_empty() && known.into_iter().all(|is_known| is_known)
}
