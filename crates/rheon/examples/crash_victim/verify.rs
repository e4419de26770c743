//! What is left after a crash, compared with what was acknowledged before it.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rheon::AgentEvent;
use rheon::Event;
use rheon::events::OrderChecker;
use rheon::store::checkpoint::{CheckpointId, CheckpointLimits, Checkpoints, DiffTarget, TextChange};
use rheon::store::claude::{Transcript, find, transcript_id};
use rheon::store::fold::SessionState;
use rheon::types::ToolEvent;
use rheon::types::unanswered_calls;

use crate::acks::{Acked, fingerprint};
use crate::stage::{Outcome, Stage, ensure, lease, name};
use crate::work::NO_TRANSCRIPT;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The process is gone; the kernel has all that it wrote.
    Kill,
    /// The machine is gone; the disk has what was synced, and any of the rest.
    PowerCut,
}

/// Checks everything; says how many events there are.
pub(crate) fn verify(stage: &Stage, after: After) -> Outcome<String> {
    let acked = Acked::read(&stage.acks())?;
    let events = events(stage, &acked, after)?;
    let effects = match stage.effects().exists() {
        true => std::fs::read_to_string(stage.effects())?,
        false => String::new(),
    };
    nothing_twice(&effects, &events)?;
    can_go_on(&events)?;
    transcript(stage, &acked, after)?;
    checkpoint(stage, &acked)?;
    Ok(format!("{} events, {} effects", events.len(), effects.lines().count()))
}

/// Everything acknowledged is in the log, and at most one event besides.
fn events(stage: &Stage, acked: &Acked, after: After) -> Outcome<BTreeMap<u64, Event>> {
    let mut events = BTreeMap::new();
    let safe = match after {
        After::Kill => acked.last(),
        After::PowerCut => acked.synced,
    };
    let name = name()?;
    let sessions = stage.sessions();
    if safe == 0 && !sessions.list(None).iter().any(|listed| listed.name == name) {
        return Ok(events);
    }
    let found = match sessions.read(&name, |event| drop(events.insert(event.seq, event))) {
        Ok(found) => found,
        Err(error) => return Err(format!("{safe} events are acknowledged, but: {error}").into()),
    };
    for (seq, print) in acked.appended.range(..=safe) {
        let event =
            events.get(seq).ok_or_else(|| format!("event {seq} of {safe} acknowledged ones is lost"))?;
        ensure(fingerprint(event) == *print, || format!("event {seq} is not what was acknowledged"))?;
    }
    let unsaid = found.seq.saturating_sub(acked.last());
    ensure(acked.is_resuming || unsaid <= 1, || format!("{unsaid} events without an acknowledgement"))?;
    if after == After::Kill {
        ensure(found.damage.is_none_or(|damage| damage.bytes < 1 << 20), || "a long torn tail".into())?;
    }
    Ok(events)
}

/// No effect happened twice or without its intent in the log, and none is claimed that did not happen.
fn nothing_twice(effects: &str, events: &BTreeMap<u64, Event>) -> Outcome {
    let (mut intended, mut done) = (HashSet::new(), HashSet::new());
    for event in events.values() {
        match &event.kind {
            AgentEvent::Tool(ToolEvent::Start { call_id, .. }) => {
                intended.insert(call_id.to_string());
            }
            AgentEvent::Tool(ToolEvent::End { call_id, is_error: false, .. }) => {
                done.insert(call_id.to_string());
            }
            _ => {}
        }
    }
    let mut seen = HashSet::new();
    for effect in effects.lines() {
        ensure(seen.insert(effect), || format!("{effect} happened twice"))?;
        ensure(intended.contains(effect), || format!("{effect} happened, but its intent is not in the log"))?;
    }
    match done.iter().find(|call| !seen.contains(call.as_str())) {
        Some(call) => Err(format!("{call} has a result but never happened").into()),
        None => Ok(()),
    }
}

/// The events are in order, and what is open can be closed.
fn can_go_on(events: &BTreeMap<u64, Event>) -> Outcome {
    let mut order = OrderChecker::new();
    let mut state = SessionState::new();
    for (expected, event) in (1..).zip(events.values()) {
        ensure(event.seq == expected, || format!("event {expected} is missing"))?;
        order.observe(event).map_err(|error| format!("{error:?}"))?;
        state.apply(event);
    }
    for event in state.closing_events(lease().at) {
        state.apply(&event);
    }
    let open = unanswered_calls(&state.messages().into_iter().collect());
    ensure(open.is_empty(), || format!("{} calls have no result", open.len()))
}

/// The transcript can be read. After a kill it has every message that it was said to have.
fn transcript(stage: &Stage, acked: &Acked, after: After) -> Outcome {
    let projects = stage.store("claude");
    let path = match projects.exists() {
        true => find(&projects, &transcript_id(&"s".into()))?,
        false => None,
    };
    let messages = match path {
        Some(path) => Transcript::open(&path)?.messages().len(),
        None => 0,
    };
    // Of a message that was not written, no result is read either.
    let is_view = after == After::Kill && !acked.has(NO_TRANSCRIPT);
    ensure(!is_view || messages >= acked.messages.len(), || {
        format!("the transcript has {messages} of {} messages", acked.messages.len())
    })
}

/// The newest checkpoint has what it was made of.
fn checkpoint(stage: &Stage, acked: &Acked) -> Outcome {
    let Some((id, content)) = &acked.captured else { return Ok(()) };
    let workspace = stage.workspace()?;
    let checkpoints =
        Checkpoints::open(&stage.store("checkpoints"), &workspace, CheckpointLimits::default())?;
    let id = CheckpointId::parse(id).ok_or("an id that is none")?;
    let listed = checkpoints.list()?;
    ensure(listed.iter().any(|listed| listed.id == id), || format!("checkpoint {id} is lost"))?;
    if content == "none" {
        return Ok(());
    }
    let change = checkpoints.diff_text(&id, &DiffTarget::WorkingTree, Path::new("file"));
    let change = change.map_err(|error| format!("checkpoint {id} cannot be read: {error}"))?;
    let now = std::fs::read_to_string(workspace.join("file")).unwrap_or_default();
    let is_whole = match change {
        TextChange::Lines(lines) => lines.contains(&format!("-{content}\n")) || now == *content,
        TextChange::Binary | TextChange::NotCompared => false,
    };
    ensure(is_whole, || format!("checkpoint {id} does not have the file with {content}"))
}
