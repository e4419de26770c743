//! `TestParent`: a parent that records its child's events and gives scripted answers.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_types::event::PermissionResponse;
use rheon_types::{AgentMessage, Answer, BoxFuture, ChildApproval, Event, Parent, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::trace::Trace;

/// Records the events of a child, answers its approval requests, sends it messages and cancels it.
pub struct TestParent {
    /// All events of the child.
    pub trace: Trace,
    cancel: CancellationToken,
    cancel_at: Option<&'static str>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answer: Option<PermissionResponse>,
    approvals: Vec<ChildApproval>,
    messages: VecDeque<AgentMessage>,
}

impl TestParent {
    /// A parent that answers nothing and sends nothing.
    pub fn new() -> Self {
        let (trace, cancel, state) = (Trace::new(), CancellationToken::new(), Mutex::default());
        Self { trace, cancel, cancel_at: None, state }
    }

    /// Answers every approval request with `answer`.
    pub fn with_answer(self, answer: impl Into<PermissionResponse>) -> Self {
        self.lock().answer = Some(answer.into());
        self
    }

    /// Sends `text` to the child.
    pub fn with_message(self, text: &str) -> Self {
        self.lock().messages.push_back(AgentMessage::user(text, Timestamp::default()));
        self
    }

    /// Cancels the child at the first event of this name.
    pub fn cancel_at(mut self, event: &'static str) -> Self {
        self.cancel_at = Some(event);
        self
    }

    /// Cancels the child.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// The child's approval requests.
    pub fn approvals(&self) -> Vec<ChildApproval> {
        self.lock().approvals.clone()
    }

    /// All events of the child.
    pub fn events(&self) -> Vec<Event> {
        self.trace.events()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for TestParent {
    fn default() -> Self {
        Self::new()
    }
}

impl Parent for TestParent {
    fn observe(&self, event: &Event) {
        self.trace.observe(event);
        if self.cancel_at == Some(event.kind.name()) {
            self.cancel.cancel();
        }
    }

    fn ask<'a>(&'a self, approval: ChildApproval) -> Answer<'a, Option<PermissionResponse>> {
        let mut state = self.lock();
        state.approvals.push(approval);
        Answer::Now(state.answer.clone())
    }

    fn next_message(&self) -> BoxFuture<'_, Option<AgentMessage>> {
        match self.lock().messages.pop_front() {
            Some(message) => Box::pin(async { Some(message) }),
            None => Box::pin(pending()),
        }
    }

    fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }
}
