//! `Questions`: several may be asked at once, and a person answers one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::event::ApprovalRequest;
use rheon_types::{AgentEvent, ApprovalEvent, ApprovalId, Event};

/// The questions of a run, the one that is being asked first.
#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: VecDeque<Arc<Event>>,
}

impl Questions {
    /// The question that is being asked.
    pub(super) fn open(&self) -> Option<Arc<ApprovalRequest>> {
        match &self.waiting.front()?.kind {
            AgentEvent::Approval(ApprovalEvent::Required { request }) => Some(Arc::clone(request)),
            _ => None,
        }
    }

    /// Takes in an event and gives those that are to be shown now: a question waits until those before it are decided.
    pub(super) fn take(&mut self, event: Arc<Event>) -> Vec<Arc<Event>> {
        match &event.kind {
            AgentEvent::Approval(ApprovalEvent::Required { .. }) => {
                self.waiting.push_back(Arc::clone(&event));
                if self.waiting.len() == 1 { vec![event] } else { Vec::new() }
            }
            AgentEvent::Approval(ApprovalEvent::Resolved { request_id, .. }) => {
                let was_open = self.open().is_some_and(|open| open.id == *request_id);
                self.waiting.retain(|waiting| !is_about(waiting, request_id));
                let next = self.waiting.front().filter(|_| was_open).cloned();
                std::iter::once(event).chain(next).collect()
            }
            _ => vec![event],
        }
    }
}

fn is_about(event: &Event, id: &ApprovalId) -> bool {
    matches!(&event.kind, AgentEvent::Approval(ApprovalEvent::Required { request }) if request.id == *id)
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
