//! Events and sessions for the tests of this module.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use rheon_types::event::ChildRef;
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, ContinuationKind, Event, ModelEvent, RunEnd, RunEvent, RunId,
    SessionId, StopReason, Timestamp, ToolEvent, ToolResult, Usage,
};
use serde_json::Value;

use super::{LoopRecord, Session, SessionFormation, SessionRecorder, SessionRecorderConfig};

/// A recorder, and helpers that emit events to it.
pub(super) struct RecorderFixture {
    pub(super) recorder: SessionRecorder,
    pub(super) events: Vec<Event>,
    pub(super) now_ms: u64,
    seqs: HashMap<SessionId, u64>,
}

impl RecorderFixture {
    pub(super) fn new(config: SessionRecorderConfig) -> Self {
        Self {
            recorder: SessionRecorder::new(config),
            events: Vec::new(),
            now_ms: 1_000,
            seqs: HashMap::new(),
        }
    }

    /// Records one event. The session of a loop is the part of its id before the first dot.
    pub(super) fn write(&mut self, loop_id: &str, kind: AgentEvent) {
        let session = loop_id.split('.').next().unwrap_or_default();
        let seq = self.seqs.entry(session.into()).or_default();
        *seq += u64::from(kind.is_durable());
        let event = Event {
            seq: *seq,
            at: Timestamp::from_millis(self.now_ms),
            session_id: session.into(),
            run_id: Some(loop_id.into()),
            kind,
        };
        self.now_ms += 1;
        self.recorder.on_event(&event);
        self.events.push(event);
    }

    /// A run from `agent.start` to `agent.end`.
    pub(super) fn run(&mut self, loop_id: &str, parent: Option<&str>) {
        self.write(loop_id, start("agent", parent, None));
        self.write(loop_id, spent(10, 2));
        self.write(loop_id, end(RunEnd::Completed, 10, 2));
    }
}

pub(super) fn start(agent: &str, parent: Option<&str>, metadata: Option<Value>) -> AgentEvent {
    AgentEvent::Run(RunEvent::Start {
        agent_id: agent.into(),
        parent_run_id: parent.map(RunId::from),
        continuation: parent.map(|_| ContinuationKind::Default),
        model: "model".into(),
        metadata: metadata.map(Arc::new),
        settings: None,
        history: None,
        cuts: Vec::new(),
    })
}

pub(super) fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

pub(super) fn spent(input: u64, output: u64) -> AgentEvent {
    AgentEvent::Model(ModelEvent::End {
        usage: usage(input, output),
        stop_reason: StopReason::Stop,
        cost: None,
        first_token_ms: None,
        duration_ms: 1,
        estimated: None,
    })
}

pub(super) fn end(end: RunEnd, input: u64, output: u64) -> AgentEvent {
    let messages = vec![text_message("done")];
    let output = AgentOutput {
        messages,
        text: "done".into(),
        usage: usage(input, output),
        turns: 1,
        ..AgentOutput::new(end)
    };
    AgentEvent::Run(RunEvent::End { output: Arc::new(output) })
}

pub(super) fn text_message(text: &str) -> Arc<AgentMessage> {
    Arc::new(AgentMessage::user(text, Timestamp::default()))
}

pub(super) fn child(loop_id: &str) -> Arc<ChildRef> {
    let session = loop_id.split('.').next().unwrap_or_default();
    Arc::new(ChildRef { agent_id: "child".into(), session_id: session.into(), run_id: loop_id.into() })
}

pub(super) fn call_done(call_id: &str, child_loop_id: Option<&str>) -> AgentEvent {
    AgentEvent::Tool(ToolEvent::End {
        call_id: call_id.into(),
        name: "task".into(),
        result: Arc::new(ToolResult::text("found it")),
        is_error: false,
        duration_ms: 3,
        child_run_id: child_loop_id.map(RunId::from),
    })
}

/// A session without loops.
pub(super) fn session(id: &str, agent: &str, last_active_ms: u64) -> Session {
    Session {
        session_id: id.into(),
        agent_id: agent.into(),
        created_at: Timestamp::from_millis(1),
        last_active_at: Timestamp::from_millis(last_active_ms),
        formation: SessionFormation::FirstLoop,
        parent_spawn_ref: None,
        loops: Vec::new(),
    }
}

/// A session with one loop of this many messages.
pub(super) fn long_session(id: &str, messages: usize, text: &str) -> Session {
    let mut session = session(id, "agent", 5);
    let loop_id = RunId::derive(&session.session_id, "c", 0);
    let mut record = LoopRecord::pending(loop_id, session.session_id.clone(), Timestamp::from_millis(1));
    record.messages = (0..messages).map(|n| text_message(&format!("{n} {text}"))).collect();
    session.loops.push(record);
    session
}

/// The session as text, one line per loop.
pub(super) fn outline(session: &Session) -> String {
    let mut text = format!(
        "{} of {:?} {}..{} {:?}",
        session.session_id,
        session.agent_id.as_str(),
        session.created_at.as_millis(),
        session.last_active_at.as_millis(),
        session.formation
    );
    if let Some(spawn) = &session.parent_spawn_ref {
        write!(text, "\n  spawned by {} {:?}", spawn.parent_loop_id, spawn.tool_call_id).unwrap();
    }
    for record in &session.loops {
        write!(
            text,
            "\n  {} {:?} parent={:?} children={:?} events={} tokens={}",
            record.loop_id,
            record.status,
            record.parent_loop_id,
            record.children_loop_ids,
            record.events.len(),
            record.usage.total()
        )
        .unwrap();
        for reference in &record.child_loop_refs {
            write!(
                text,
                "\n    {:?} started {} of {:?}",
                reference.tool_call_id, reference.child_loop_id, reference.child_session_id
            )
            .unwrap();
        }
        if let Some(group) = &record.parallel_group {
            write!(
                text,
                "\n    one of {:?}, chosen {:?} {:?}{}",
                group.all_loop_ids,
                group.selected_loop_id,
                group.selected_config_index,
                if group.is_selected { ": this one" } else { "" }
            )
            .unwrap();
        }
    }
    text
}
