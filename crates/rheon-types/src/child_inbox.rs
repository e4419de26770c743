//! `ChildInbox`: what the user says to a running child of a tool call, and the wish that it stop.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio_util::sync::CancellationToken;

use crate::message::AgentMessage;

/// The most messages that wait for a child.
const MESSAGES_MAX: usize = 1_000;

/// When a child receives a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildMessageTime {
    /// Between its tool executions.
    Steer,
    /// Once its run would otherwise stop.
    FollowUp,
}

/// The messages for one running child, and its own wish to stop. Clones are the same inbox.
#[derive(Clone)]
pub struct ChildInbox {
    cancel: CancellationToken,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    steering: Line,
    follow_ups: Line,
}

#[derive(Default)]
struct Line {
    messages: VecDeque<AgentMessage>,
    /// Wakes the reader of the next message.
    waiting: Option<Waker>,
}

/// A message that cannot be given to a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChildInboxError {
    /// The child has ended.
    #[error("the child has ended")]
    Closed,
    /// More messages wait than it takes.
    #[error("{MESSAGES_MAX} messages wait for the child already")]
    Full,
}

impl ChildInbox {
    /// The inbox of a child that stops when `cancel` fires.
    pub fn new(cancel: CancellationToken) -> Self {
        Self { cancel, state: Arc::default() }
    }

    /// Fires when the child should stop.
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Leaves a message for the child.
    pub fn say(&self, when: ChildMessageTime, message: AgentMessage) -> Result<(), ChildInboxError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(ChildInboxError::Closed);
        }
        let line = state.line(when);
        if line.messages.len() >= MESSAGES_MAX {
            return Err(ChildInboxError::Full);
        }
        line.messages.push_back(message);
        if let Some(waiting) = line.waiting.take() {
            waiting.wake();
        }
        Ok(())
    }

    /// Waits for the next message; nothing once the child has ended. One at a time may wait for each kind.
    pub async fn next(&self, when: ChildMessageTime) -> Option<AgentMessage> {
        poll_fn(|context| self.poll_next(when, context)).await
    }

    fn poll_next(&self, when: ChildMessageTime, context: &Context<'_>) -> Poll<Option<AgentMessage>> {
        let mut state = self.lock();
        let is_closed = state.is_closed;
        let line = state.line(when);
        match line.messages.pop_front() {
            None if is_closed => Poll::Ready(None),
            None => {
                line.waiting = Some(context.waker().clone());
                Poll::Pending
            }
            message => Poll::Ready(message),
        }
    }

    /// The child has ended: nothing more is taken.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let waiting = [state.steering.waiting.take(), state.follow_ups.waiting.take()];
        drop(state);
        waiting.into_iter().flatten().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn line(&mut self, when: ChildMessageTime) -> &mut Line {
        match when {
            ChildMessageTime::Steer => &mut self.steering,
            ChildMessageTime::FollowUp => &mut self.follow_ups,
        }
    }
}

impl fmt::Debug for ChildInbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("ChildInbox")
            .field("is_closed", &state.is_closed)
            .field("steering", &state.steering.messages.len())
            .field("follow_ups", &state.follow_ups.messages.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "child_inbox_tests.rs"]
mod tests;
