//! `Control`: reaches a run in progress through message queues and approval requests.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::PermissionResponse;
use rheon_types::{AgentMessage, ApprovalId, ChildInbox, ChildInboxError, ChildMessageTime, SessionId};
use tokio::sync::oneshot;

use crate::error::{ChildError, PermissionError};

/// How a queue delivers its messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QueueMode {
    /// One message per turn.
    #[default]
    OneAtATime,
    /// All messages at once.
    All,
}

/// The message queues and open approval requests of one agent. Clones share them.
#[derive(Clone, Default)]
pub struct Control {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    steering: Queue,
    follow_ups: Queue,
    questions: HashMap<ApprovalId, oneshot::Sender<PermissionResponse>>,
    approvers: usize,
    /// Children of tool calls that run.
    children: HashMap<SessionId, ChildInbox>,
}

#[derive(Default)]
struct Queue {
    mode: QueueMode,
    messages: VecDeque<AgentMessage>,
}

impl Queue {
    /// How many messages one turn takes.
    fn due(&self) -> usize {
        match self.mode {
            QueueMode::OneAtATime => self.messages.len().min(1),
            QueueMode::All => self.messages.len(),
        }
    }
}

impl Control {
    /// Empty queues with these modes.
    pub fn new(steering: QueueMode, follow_ups: QueueMode) -> Self {
        let control = Self::default();
        {
            let mut shared = control.lock();
            shared.steering.mode = steering;
            shared.follow_ups.mode = follow_ups;
        }
        control
    }

    /// Queues a message for the next pause between tool executions.
    pub fn steer(&self, message: AgentMessage) {
        self.lock().steering.messages.push_back(message);
    }

    /// Queues a message for when the run would otherwise stop.
    pub fn follow_up(&self, message: AgentMessage) {
        self.lock().follow_ups.messages.push_back(message);
    }

    /// The number of queued steering and follow-up messages.
    pub fn queue_lengths(&self) -> (usize, usize) {
        let shared = self.lock();
        (shared.steering.messages.len(), shared.follow_ups.messages.len())
    }

    /// Clears both queues.
    pub fn clear(&self) {
        let mut shared = self.lock();
        shared.steering.messages.clear();
        shared.follow_ups.messages.clear();
    }

    /// Leaves a message for a child that runs.
    pub(crate) fn tell_child(
        &self,
        session_id: &SessionId,
        when: ChildMessageTime,
        message: AgentMessage,
    ) -> Result<(), ChildError> {
        let said = self.child(session_id)?.say(when, message);
        said.map_err(|error| match error {
            ChildInboxError::Closed => ChildError::Unknown { session_id: session_id.clone() },
            ChildInboxError::Full => ChildError::Full { session_id: session_id.clone() },
        })
    }

    /// Stops a child that runs.
    pub(crate) fn cancel_child(&self, session_id: &SessionId) -> Result<(), ChildError> {
        self.child(session_id)?.cancel_token().cancel();
        Ok(())
    }

    fn child(&self, session_id: &SessionId) -> Result<ChildInbox, ChildError> {
        let child = self.lock().children.get(session_id).cloned();
        child.ok_or_else(|| ChildError::Unknown { session_id: session_id.clone() })
    }

    /// A child runs: it is reached by `inbox`.
    pub(crate) fn add_child(&self, session_id: SessionId, inbox: ChildInbox) {
        self.lock().children.insert(session_id, inbox);
    }

    /// A child has ended.
    pub(crate) fn remove_child(&self, session_id: &SessionId) {
        self.lock().children.remove(session_id);
    }

    /// Declares that approval requests are answered while the returned guard is alive.
    pub(crate) fn has_approver(&self) -> bool {
        self.lock().approvers > 0
    }

    pub fn attach_approver(&self) -> ApproverGuard {
        self.lock().approvers += 1;
        ApproverGuard { control: self.clone() }
    }

    /// The number of steering and follow-up messages the next turn takes.
    pub(crate) fn due(&self) -> (usize, usize) {
        let shared = self.lock();
        (shared.steering.due(), shared.follow_ups.due())
    }

    pub(crate) fn next_steering(&self) -> Option<AgentMessage> {
        self.lock().steering.messages.pop_front()
    }

    pub(crate) fn next_follow_up(&self) -> Option<AgentMessage> {
        self.lock().follow_ups.messages.pop_front()
    }

    /// Returns a message that was taken but not used.
    pub(crate) fn return_steering(&self, message: AgentMessage) {
        self.lock().steering.messages.push_front(message);
    }

    /// Returns a message that was taken but not used.
    pub(crate) fn return_follow_up(&self, message: AgentMessage) {
        self.lock().follow_ups.messages.push_front(message);
    }

    /// Closes a request without an answer.
    pub(crate) fn withdraw(&self, id: &ApprovalId) {
        self.lock().questions.remove(id);
    }

    /// Opens a request, if anyone can answer it.
    pub(crate) fn ask(&self, id: ApprovalId) -> Option<Question> {
        let mut shared = self.lock();
        if shared.approvers == 0 {
            return None;
        }
        let (sender, answer) = oneshot::channel();
        shared.questions.insert(id.clone(), sender);
        Some(Question { id, answer, control: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Declares that approval requests are answered. Without a live guard, calls that need approval are denied.
pub struct ApproverGuard {
    control: Control,
}

impl ApproverGuard {
    /// Answers an open request. The first answer counts; any later one is an error.
    pub fn respond(
        &self,
        request_id: &ApprovalId,
        response: impl Into<PermissionResponse>,
    ) -> Result<(), PermissionError> {
        let question = self.control.lock().questions.remove(request_id);
        let unknown = || PermissionError { request_id: request_id.clone() };
        question.ok_or_else(unknown)?.send(response.into()).map_err(|_| unknown())
    }
}

impl Drop for ApproverGuard {
    fn drop(&mut self) {
        let mut shared = self.control.lock();
        shared.approvers = shared.approvers.saturating_sub(1);
        if shared.approvers == 0 {
            // No one is left to answer: closing the channels notifies the waiting calls.
            shared.questions.clear();
        }
    }
}

/// An open approval request, withdrawn when dropped.
pub(crate) struct Question {
    id: ApprovalId,
    answer: oneshot::Receiver<PermissionResponse>,
    control: Control,
}

impl Question {
    /// The answer; `None` if no one can give it any more.
    pub(crate) async fn answer(&mut self) -> Option<PermissionResponse> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.control.lock().questions.remove(&self.id);
    }
}
