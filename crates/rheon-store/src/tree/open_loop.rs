//! Applies events to the record of their loop. Pure.

use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentId, AgentOutput, Event, MessageEvent, ModelEvent, RunEnd, RunEvent, RunId, SessionId,
    Timestamp, Usage,
};

use super::loop_event::{LoopEvent, LoopFact};
use super::loop_record::{LoopConfigSnapshot, LoopRecord, LoopStatus};

impl LoopRecord {
    /// A loop that was announced.
    pub(super) fn pending(loop_id: RunId, session_id: SessionId, at: Timestamp) -> Self {
        Self {
            loop_id,
            session_id,
            agent_id: AgentId::from(""),
            parent_loop_id: None,
            continuation_kind: None,
            started_at: at,
            ended_at: None,
            status: LoopStatus::Pending,
            rejection: None,
            end: None,
            config: None,
            messages: Vec::new(),
            usage: Usage::default(),
            metadata: None,
            events: Vec::new(),
            events_left_out: 0,
            children_loop_ids: Vec::new(),
            child_loop_refs: Vec::new(),
            parallel_group: None,
        }
    }

    /// Applies an event to the loop itself. A closed loop stays unchanged.
    pub(super) fn apply(&mut self, event: &Event) {
        if !self.status.is_open() {
            return;
        }
        if let AgentEvent::Run(RunEvent::Start { .. }) = &event.kind {
            self.begin(event);
        }
        if let AgentEvent::Run(RunEvent::End { output }) = &event.kind {
            self.close(event.at, output);
        }
        if let AgentEvent::Model(ModelEvent::End { usage, .. }) = &event.kind {
            self.usage += *usage;
        }
        if let AgentEvent::Message(MessageEvent::End { message }) = &event.kind {
            if let (Some(config), Some(answer)) = (&mut self.config, message.as_assistant()) {
                config.provider.get_or_insert_with(|| answer.provider.clone());
            }
            self.messages.push(Arc::clone(message));
        }
    }

    fn begin(&mut self, event: &Event) {
        let AgentEvent::Run(RunEvent::Start {
            agent_id, parent_run_id, continuation, model, metadata, ..
        }) = &event.kind
        else {
            return;
        };
        let config_id = config_segment(&self.loop_id, &event.session_id);
        self.config = Some(LoopConfigSnapshot::new(model, config_id, metadata.as_deref()));
        self.status = LoopStatus::Running;
        self.started_at = event.at;
        self.agent_id = agent_id.clone();
        self.parent_loop_id = parent_run_id.clone();
        self.continuation_kind = continuation.clone();
        self.metadata = metadata.clone();
    }

    /// Stores the event, unless the limit is reached. Returns whether it was stored.
    pub(super) fn keep(&mut self, event: &Event, events_max: usize) -> bool {
        if self.events.len() >= events_max {
            self.events_left_out = self.events_left_out.saturating_add(1);
            return false;
        }
        self.events.push(LoopEvent::Known(LoopFact::from(event)));
        true
    }

    /// Closes a loop whose end will not be seen.
    pub(super) fn abandon(&mut self, at: Timestamp) {
        self.status = LoopStatus::Aborted;
        self.ended_at = Some(at);
    }

    fn close(&mut self, at: Timestamp, output: &AgentOutput) {
        self.ended_at = Some(at);
        self.messages = output.messages.clone();
        self.usage = output.usage;
        self.end = Some(output.end.clone());
        self.status = match &output.end {
            RunEnd::Completed | RunEnd::Truncated | RunEnd::Limit { .. } | RunEnd::Stuck { .. } => {
                LoopStatus::Completed
            }
            RunEnd::Rejected { rejection: reason } | RunEnd::Vetoed { message: reason, .. } => {
                self.rejection = Some(reason.clone());
                LoopStatus::Rejected
            }
            RunEnd::Aborted => LoopStatus::Aborted,
            RunEnd::Failed { .. } => LoopStatus::Failed,
        };
    }
}

/// The middle part of `{session_id}.{config segment}.{n}`.
fn config_segment<'a>(loop_id: &'a RunId, session_id: &SessionId) -> Option<&'a str> {
    let rest = loop_id.as_str().strip_prefix(session_id.as_str())?.strip_prefix('.')?;
    rest.rsplit_once('.').map(|(segment, _)| segment)
}
