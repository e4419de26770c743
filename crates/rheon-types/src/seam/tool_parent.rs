//! A tool call as the parent of a child: records `subagent.*` in the parent's log and forwards the child's events to
//! the parent's observers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::worker::{Parent, Task, Worker};
use crate::answer::{Answer, BoxFuture};
use crate::child::{ChildApproval, ParentLink, WorkerError, WorkerOutput};
use crate::child_inbox::{ChildInbox, ChildMessageTime};
use crate::content::text_of;
use crate::event::{AgentEvent, ChildRef, Event, PermissionResponse, RunEvent};
use crate::message::AgentMessage;
use crate::tool_context::{ToolContext, ToolFact};
use crate::usage::Usage;

/// The maximum length of a task or result in the parent's log.
const SUMMARY_CHARS_MAX: usize = 2_000;

/// Runs `task` as a child of a tool call and records its start and end in the parent's log.
pub async fn run_child(
    worker: &dyn Worker,
    mut task: Task,
    context: &ToolContext,
) -> Result<WorkerOutput, WorkerError> {
    task.parent = Some(ParentLink {
        session_id: context.session_id.clone(),
        run_id: context.run_id.clone(),
        call_id: Some(context.call_id.clone()),
    });
    let summary = shorten(&text_of(&task.prompt));
    // The user may stop the child without stopping the call.
    let inbox = ChildInbox::new(context.cancel.child_token());
    let (context, child) = (context.clone(), Mutex::default());
    let parent = Arc::new(ToolParent { context, task: summary, inbox, child });
    // Also where the call is dropped before the child has ended.
    let guard = EndGuard(Arc::clone(&parent));
    let outcome = worker.run(task, Arc::clone(&parent) as Arc<dyn Parent>).await;
    guard.0.end(&outcome);
    outcome
}

struct ToolParent {
    context: ToolContext,
    task: String,
    inbox: ChildInbox,
    child: Mutex<Child>,
}

/// The child's state.
#[derive(Default)]
enum Child {
    #[default]
    Waiting,
    Running(Arc<ChildRef>),
    Ended,
}

struct EndGuard(Arc<ToolParent>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.tell_end("the call was stopped before its child ended", Usage::default(), true);
    }
}

impl ToolParent {
    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_start(&self, child: ChildRef) {
        let mut state = self.child();
        if let Child::Waiting = *state {
            let child = Arc::new(child);
            *state = Child::Running(Arc::clone(&child));
            // A client that sees the start can reach the child.
            self.context.reach_child(&child, self.inbox.clone());
            self.context.record(ToolFact::ChildStarted { child, task: self.task.clone() });
        }
    }

    fn tell_end(&self, summary: &str, usage: Usage, is_error: bool) {
        self.inbox.close();
        if let Child::Running(child) = std::mem::replace(&mut *self.child(), Child::Ended) {
            self.context.record(ToolFact::ChildEnded { child, summary: shorten(summary), usage, is_error });
        }
    }

    fn end(&self, outcome: &Result<WorkerOutput, WorkerError>) {
        match outcome {
            Ok(WorkerOutput { output, .. }) => self.tell_end(&output.text, output.usage, false),
            Err(error) => {
                let usage = error.output.as_ref().map(|left| left.output.usage).unwrap_or_default();
                self.tell_end(&error.to_string(), usage, true);
            }
        }
    }
}

impl Parent for ToolParent {
    fn observe(&self, event: &Event) {
        if let (AgentEvent::Run(RunEvent::Start { agent_id, .. }), Some(run_id)) =
            (&event.kind, &event.run_id)
        {
            self.tell_start(ChildRef {
                agent_id: agent_id.clone(),
                session_id: event.session_id.clone(),
                run_id: run_id.clone(),
            });
        }
        self.context.child_event(event);
    }

    fn ask<'a>(&'a self, approval: ChildApproval) -> Answer<'a, Option<PermissionResponse>> {
        Answer::later(self.context.ask_for_child(approval))
    }

    fn next_message(&self) -> BoxFuture<'_, Option<AgentMessage>> {
        Box::pin(self.inbox.next(ChildMessageTime::Steer))
    }

    fn next_follow_up(&self) -> BoxFuture<'_, Option<AgentMessage>> {
        Box::pin(self.inbox.next(ChildMessageTime::FollowUp))
    }

    fn cancel_token(&self) -> CancellationToken {
        self.inbox.cancel_token().clone()
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(SUMMARY_CHARS_MAX).collect()
}
