//! Where a log is cut, and what in it no loop has said.

use std::sync::Arc;

use rheon_types::event::{PermissionDecision, Responder, RunWindow, Scope};
use rheon_types::{
    AgentEvent, AgentOutput, ApprovalEvent, ContextEvent, Event, ModelEvent, RunEnd, RunEvent, RunId,
    SessionEvent, SessionId, StopReason, Timestamp, ToolError, ToolEvent, ToolResult, TurnEvent, Usage,
};

use super::parts::{LogPart, parts};

fn events(run: &str, kinds: Vec<AgentEvent>) -> Vec<Event> {
    let event = |(seq, kind)| Event {
        seq,
        at: Timestamp::from_millis(0),
        session_id: SessionId::from("s"),
        run_id: Some(RunId::from(run)),
        kind,
    };
    (1..).zip(kinds).map(event).collect()
}

fn start() -> AgentEvent {
    AgentEvent::Run(RunEvent::Start {
        agent_id: "a".into(),
        parent_run_id: None,
        continuation: None,
        model: "m".into(),
        metadata: None,
        settings: Some(Arc::default()),
        history: None,
        cuts: Vec::new(),
    })
}

fn begun_with_window() -> AgentEvent {
    let mut start = start();
    if let AgentEvent::Run(RunEvent::Start { settings: Some(settings), .. }) = &mut start {
        Arc::make_mut(settings).window = Some(RunWindow::default());
    }
    start
}

fn end() -> AgentEvent {
    let output = AgentOutput::new(RunEnd::Aborted);
    AgentEvent::Run(RunEvent::End { output: Arc::new(output) })
}

fn noted(id: &str) -> AgentEvent {
    AgentEvent::Session(SessionEvent::Checkpoint { id: id.into(), label: String::new() })
}

/// Each part as text: how many events it has, how many are the loop's own, how many it said itself.
fn shown(events: Vec<Event>) -> String {
    let line = |part: &LogPart| match part {
        LogPart::Run(run) => format!("run {} {} {}", run.all.len(), run.own.len(), run.produced),
        LogPart::Event(event) => format!("loose {}", event.seq),
    };
    match parts(events) {
        Ok(parts) => parts.iter().map(line).collect::<Vec<_>>().join("; "),
        Err(error) => error.to_string(),
    }
}

#[test]
fn copied_events_are_kept_beside_the_run() {
    let kinds = vec![noted("a"), start(), noted("b"), noted("c"), end(), noted("d"), start()];
    assert_eq!(shown(events("r", kinds)), "loose 1; run 4 2 2; loose 6; run 1 1 1");
}

#[test]
fn events_added_after_a_crash_are_not_the_loops() {
    let resolved = AgentEvent::Approval(ApprovalEvent::Resolved {
        request_id: "q".into(),
        decision: PermissionDecision::Deny,
        scope: Scope::Once,
        by: Responder::Cancelled,
        arguments: None,
        offer: None,
    });
    let in_doubt = ToolError::Cancelled("In doubt: the program ended while this ran, so look.".into());
    let ended = AgentEvent::Tool(ToolEvent::End {
        call_id: "c".into(),
        name: "t".into(),
        result: Arc::new(ToolResult::from(&in_doubt)),
        is_error: true,
        duration_ms: 0,
        child_run_id: None,
    });
    assert_eq!(shown(events("r", vec![start(), resolved.clone(), ended, end()])), "run 4 4 1");
    let call = AgentEvent::Model(ModelEvent::End {
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        cost: Some(rheon_types::MicroUsd(5)),
        first_token_ms: Some(1),
        duration_ms: 2,
        estimated: None,
    });
    assert_eq!(shown(events("r", vec![start(), call, end()])), "run 3 3 2", "its cost would be known");
    assert_eq!(shown(events("r", vec![start(), resolved, end()])), "run 3 3 3", "somebody cancelled it");
    let turn =
        AgentEvent::Turn(TurnEvent::Start { turn_index: 0, triggered_by: rheon_types::TurnTrigger::User });
    let full = AgentEvent::Context(ContextEvent::Usage { tokens_used: 1, tokens_window: 2 });
    let over = AgentEvent::Turn(TurnEvent::End {
        turn_index: 0,
        message: None,
        tool_results: Vec::new(),
        usage: Usage::default(),
    });
    let kinds = vec![begun_with_window(), turn, full, over, end()];
    assert_eq!(shown(events("r", kinds)), "run 5 5 3", "there was no time to cancel it");
}

#[test]
fn concurrent_runs_and_runs_without_a_start_are_rejected() {
    let mut both = events("r", vec![start(), start(), end(), end()]);
    both[1].run_id = Some("other".into());
    assert_eq!(
        shown(both),
        "event 2 (agent.start) cannot be replayed: it belongs to run other, but run r is in progress"
    );
    let turn =
        AgentEvent::Turn(TurnEvent::Start { turn_index: 0, triggered_by: rheon_types::TurnTrigger::User });
    assert_eq!(
        shown(events("r", vec![turn])),
        "event 1 (turn.start) cannot be replayed: the start of its run is not in the log"
    );
}
