//! `AgentWorker`: does tasks with agents of this process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::future::FusedFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rheon_types::event::{ApprovalRequest, ChildRef, PermissionResponse};
use rheon_types::{
    AgentEvent, ApprovalEvent, BoxFuture, ChildApproval, Event, Parent, Task, Worker, WorkerError,
    WorkerOutput,
};

use crate::agent::Agent;
use crate::builder::AgentBuilder;
use crate::error::AgentError;
use crate::panics::panic_text;
use crate::stream::RunStream;

type Build = dyn Fn(&Task) -> Result<AgentBuilder, WorkerError> + Send + Sync;

/// Does tasks with agents of this process, each an agent and a session of its own.
///
/// A closure builds the agent of a task. It decides what only it can know: provider and model, tools, permission policy, working
/// directory, store, and the conversation of a session to resume. The rest of the task is applied here: the system prompt of
/// the definition, the output schema, the budget, the session id, the parent and the metadata.
pub struct AgentWorker {
    name: String,
    build: Box<Build>,
}

impl AgentWorker {
    /// A worker whose agents `build` makes.
    pub fn new(
        name: impl Into<String>,
        build: impl Fn(&Task) -> Result<AgentBuilder, WorkerError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), build: Box::new(build) }
    }

    fn error(&self, problem: impl std::fmt::Display) -> WorkerError {
        WorkerError::new(&self.name, problem)
    }

    fn agent(&self, task: &Task) -> Result<Agent, WorkerError> {
        let mut builder = (self.build)(task)?;
        if let Some(prompt) = &task.agent.system_prompt {
            builder = builder.system_prompt(Arc::clone(prompt));
        }
        if let Some(schema) = &task.output_schema {
            builder = builder.json_schema((**schema).clone());
        }
        if let Some(budget) = &task.budget {
            builder = builder.budget(Arc::clone(budget));
        }
        if let Some(session_id) = &task.resume {
            builder = builder.session(session_id.clone());
        }
        if let Some(parent) = &task.parent {
            builder = builder.parent_run(parent.run_id.clone());
        }
        if let Some(metadata) = &task.metadata {
            builder = builder.metadata(Arc::clone(metadata));
        }
        builder.build().map_err(|error| self.error(error))
    }

    async fn work(&self, task: Task, parent: &dyn Parent) -> Result<WorkerOutput, WorkerError> {
        let built = catch_unwind(AssertUnwindSafe(|| self.agent(&task)));
        let agent = built.map_err(|panic| self.panicked(&*panic))??;
        let stream = agent.run_stream(task.prompt).map_err(|error| self.error(error))?;
        let mut child = ChildRef {
            agent_id: agent.agent_id().clone(),
            session_id: agent.session_id(),
            run_id: rheon_types::RunId::from(""),
        };
        let following = follow(stream, &task.agent.name, parent, &mut child);
        let stream = match AssertUnwindSafe(following).catch_unwind().await {
            Ok(stream) => stream,
            Err(panic) => {
                // The stream is gone, which stops the run; nothing of it is left behind.
                agent.wait_until_settled().await;
                return Err(self.panicked(&*panic));
            }
        };
        match stream.finish().await {
            Ok(output) => Ok(WorkerOutput { child, output }),
            Err(AgentError::Failed { failure, output }) => {
                Err(WorkerError::of_run(&self.name, failure, WorkerOutput { child, output }))
            }
            Err(error) => Err(self.error(error)),
        }
    }

    fn panicked(&self, panic: &(dyn std::any::Any + Send)) -> WorkerError {
        self.error(format!("it panicked: {}", panic_text(panic)))
    }
}

impl Worker for AgentWorker {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, task: Task, parent: Arc<dyn Parent>) -> BoxFuture<'_, Result<WorkerOutput, WorkerError>> {
        Box::pin(async move { self.work(task, &*parent).await })
    }
}

/// Carries events, questions, messages and the wish to stop between a run and its parent, until the run is over.
async fn follow(mut stream: RunStream, agent: &str, parent: &dyn Parent, child: &mut ChildRef) -> RunStream {
    let cancel = parent.cancel_token();
    let mut cancelled = std::pin::pin!(cancel.cancelled().fuse());
    let mut message = parent.next_message().fuse();
    let mut follow_up = parent.next_follow_up().fuse();
    let mut questions: FuturesUnordered<BoxFuture<'_, Answered>> = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            () = &mut cancelled, if !cancelled.is_terminated() => stream.cancel(),
            Some((request, answer)) = questions.next(), if !questions.is_empty() => match answer {
                // A question that is not open any more needs no answer.
                Some(answer) => drop(stream.respond_permission(&request.id, answer)),
                None => stream.withdraw(&request.id),
            },
            said = &mut message, if !message.is_terminated() => {
                if let Some(said) = said {
                    stream.inject_message(vec![said]);
                    message = parent.next_message().fuse();
                }
            }
            said = &mut follow_up, if !follow_up.is_terminated() => {
                if let Some(said) = said {
                    stream.follow_up(vec![said]);
                    follow_up = parent.next_follow_up().fuse();
                }
            }
            event = stream.next() => {
                let Some(event) = event else { return stream };
                if let Some(run_id) = &event.run_id {
                    child.run_id = run_id.clone();
                }
                parent.observe(&event);
                if let Some(request) = asked(&event) {
                    questions.push(Box::pin(ask(parent, agent.to_owned(), request)));
                }
            }
        }
    }
}

fn asked(event: &Event) -> Option<Arc<ApprovalRequest>> {
    match &event.kind {
        AgentEvent::Approval(ApprovalEvent::Required { request }) => Some(Arc::clone(request)),
        _ => None,
    }
}

/// A question, and its answer where there is one.
type Answered = (Arc<ApprovalRequest>, Option<PermissionResponse>);

async fn ask(parent: &dyn Parent, agent: String, request: Arc<ApprovalRequest>) -> Answered {
    let approval = ChildApproval { agent, request: Arc::clone(&request) };
    (request, parent.ask(approval).get().await)
}
