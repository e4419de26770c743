//! `RunStream`: the events of a run as they happen, with a way to respond.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use rheon_types::event::PermissionResponse;
use rheon_types::{AgentEvent, AgentOutput, ApprovalId, Clock, Event, RunEnd, RunEvent, RunId};
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use crate::control::{ApproverGuard, Control};
use crate::error::{AgentError, PermissionError};
use crate::log::EventQueue;
use crate::prompt::Prompt;

/// A run's task. Dropping it cancels the run, which still ends in order.
pub(crate) struct RunHandle {
    pub(crate) run_id: RunId,
    pub(crate) task: JoinHandle<Arc<AgentOutput>>,
    pub(crate) cancel: DropGuard,
}

impl RunHandle {
    /// Waits for the end.
    pub(crate) async fn finish(self) -> Result<Arc<AgentOutput>, AgentError> {
        let output = self.task.await.map_err(|error| AgentError::Lost(error.to_string()))?;
        match &output.end {
            RunEnd::Failed { failure } => {
                Err(AgentError::Failed { failure: failure.clone(), output: Arc::clone(&output) })
            }
            RunEnd::Completed
            | RunEnd::Truncated
            | RunEnd::Limit { .. }
            | RunEnd::Rejected { .. }
            | RunEnd::Vetoed { .. }
            | RunEnd::Stuck { .. }
            | RunEnd::Aborted => Ok(output),
        }
    }
}

/// The events of one run as they happen, with a way to respond. Ends after `agent.end`.
///
/// A reader that falls more than 1,024 events behind slows the run down. It loses only live reports of tools
/// (`tool.update`, `tool.progress`). Dropping the stream cancels the run.
pub struct RunStream {
    queue: Reader,
    control: Control,
    /// Dropped when the run ends, so that the next run does not wait for a reader that has stopped reading.
    approver: Option<ApproverGuard>,
    clock: Arc<dyn Clock>,
    handle: RunHandle,
}

struct Reader(Arc<EventQueue>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl RunStream {
    pub(crate) fn new(
        queue: Arc<EventQueue>,
        control: Control,
        approver: ApproverGuard,
        clock: Arc<dyn Clock>,
        handle: RunHandle,
    ) -> Self {
        Self { queue: Reader(queue), control, approver: Some(approver), clock, handle }
    }

    /// The next event; `None` after the end of the run.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        poll_fn(|context| self.poll_event(context)).await
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        let polled = self.queue.0.poll_next(context);
        match &polled {
            Poll::Ready(Some(event)) if !matches!(event.kind, AgentEvent::Run(RunEvent::End { .. })) => {}
            Poll::Ready(_) => self.approver = None,
            Poll::Pending => {}
        }
        polled
    }

    /// Declares that the reader of this stream does not answer approval requests.
    pub fn without_approvals(mut self) -> Self {
        self.approver = None;
        self
    }

    /// Answers an approval request. The first answer counts; any later one is an error.
    pub fn respond_permission(
        &self,
        request_id: &ApprovalId,
        response: impl Into<PermissionResponse>,
    ) -> Result<(), PermissionError> {
        let unknown = || PermissionError { request_id: request_id.clone() };
        self.approver.as_ref().ok_or_else(unknown)?.respond(request_id, response)
    }

    /// Closes a request without an answer.
    pub(crate) fn withdraw(&self, request_id: &ApprovalId) {
        self.control.withdraw(request_id);
    }

    /// Sends a message to the run, between its tool executions. A late message waits for the agent's next run.
    pub fn inject_message(&self, message: impl Into<Prompt>) {
        for message in message.into().into_messages(self.clock.now()) {
            self.control.steer(message);
        }
    }

    /// Says something once the run would otherwise stop.
    pub fn follow_up(&self, message: impl Into<Prompt>) {
        for message in message.into().into_messages(self.clock.now()) {
            self.control.follow_up(message);
        }
    }

    /// Stops the run. Its last events still come.
    pub fn cancel(&self) {
        self.handle.cancel.token().cancel();
    }

    /// Reads the remaining events and returns the output.
    pub async fn finish(mut self) -> Result<Arc<AgentOutput>, AgentError> {
        while self.next().await.is_some() {}
        self.handle.finish().await
    }
}

impl Stream for RunStream {
    type Item = Arc<Event>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(context)
    }
}
