//! `TestParent`: a parent that records what its child shows and answers as it is told.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_types::event::PermissionResponse;
use rheon_types::{AgentMessage, Answer, BoxFuture, ChildApproval, Event, Parent, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::trace::Trace;

/// Records the events of a child, answers its questions, speaks to it and cancels it.
pub struct TestParent {
    /// All that the child showed.
    pub trace: Trace,
    cancel: CancellationToken,
    cancel_at: Option<&'static str>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answer: Option<PermissionResponse>,
    asked: Vec<ChildApproval>,
    messages: VecDeque<AgentMessage>,
}

impl TestParent {
    /// A parent that answers nothing and says nothing.
    pub fn new() -> Self {
        let (trace, cancel, state) = (Trace::new(), CancellationToken::new(), Mutex::default());
        Self { trace, cancel, cancel_at: None, state }
    }

    /// The same, which answers every question so.
    pub fn answering(self, answer: impl Into<PermissionResponse>) -> Self {
        self.lock().answer = Some(answer.into());
        self
    }

    /// The same, which says `text` to its child.
    pub fn saying(self, text: &str) -> Self {
        self.lock().messages.push_back(AgentMessage::user(text, Timestamp::default()));
        self
    }

    /// The same, which cancels its child at the first event of this name.
    pub fn cancelling_at(mut self, event: &'static str) -> Self {
        self.cancel_at = Some(event);
        self
    }

    /// Cancels the child.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// What the child asked.
    pub fn asked(&self) -> Vec<ChildApproval> {
        self.lock().asked.clone()
    }

    /// All that the child showed.
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
        state.asked.push(approval);
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
