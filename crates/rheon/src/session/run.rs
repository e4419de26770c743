//! `Run`: a run in progress: its text and events as they come, and its reply at the end.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt as _};
use rheon_types::event::{ApprovalRequest, PermissionResponse};
use rheon_types::protocol::{Command, Subscription};
use rheon_types::{
    AgentEvent, ApprovalEvent, BoxFuture, Client, ClientError, Event, EventStream, MessageEvent, RunEnd,
    RunEvent, RunId, SessionId, ToolEvent,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::reply::Reply;
use crate::error::{Error, ErrorKind, Result, empty_prompt};

/// Answers approval requests.
pub(super) type Approve =
    Arc<dyn Fn(ApprovalRequest) -> BoxFuture<'static, PermissionResponse> + Send + Sync>;

/// A run in progress. It runs by itself, whether you read from it or not; dropping it cancels the run.
///
/// Awaiting it is [`reply`](Self::reply): `session.start("...").await?`.
pub struct Run {
    events: Events,
    task: Option<JoinHandle<Result<Reply>>>,
    cancel: DropGuard,
}

/// The events of the run, from its first to its last.
enum Events {
    /// It is not known yet whether the run begins, and under which id.
    Starting(oneshot::Receiver<RunId>, EventStream),
    Running(RunId, EventStream),
    Over,
}

impl Run {
    pub(super) fn start(
        client: &Arc<dyn Client>,
        session_id: &SessionId,
        command: Command,
        approve: Option<Approve>,
    ) -> Self {
        let token = CancellationToken::new();
        let cancel = token.clone().drop_guard();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return Self { events: Events::Over, task: None, cancel };
        };
        let (started, is_started) = oneshot::channel();
        let driver = Driver {
            client: Arc::clone(client),
            session_id: session_id.clone(),
            cancel: token,
            diff: String::new(),
            answers: FuturesUnordered::new(),
            approve,
        };
        let events = Events::Starting(is_started, client.events(Subscription::from_now()));
        Self { events, task: Some(runtime.spawn(driver.run(command, started))), cancel }
    }

    /// The text of the model's answers, piece by piece.
    ///
    /// [`next`](TextOfRun::next) waits for the next piece; it is also a [`Stream`]. Text that [`events`](Self::events) has shown is not
    /// shown again.
    pub fn text(&mut self) -> TextOfRun<'_> {
        TextOfRun { run: self }
    }

    /// Everything that happens in the run, event by event.
    pub fn events(&mut self) -> EventsOfRun<'_> {
        EventsOfRun { run: self }
    }

    /// Cancels the run. It still ends in order, and has a reply.
    pub fn cancel(&self) {
        self.cancel.token().cancel();
    }

    /// Waits for the end and returns what the run left.
    pub async fn reply(mut self) -> Result<Reply> {
        let Some(task) = self.task.take() else { return Err(Error::no_runtime()) };
        let done = task.await;
        done.unwrap_or_else(|error| {
            Err(Error::new(ErrorKind::Run, "the run was stopped from outside").because(error))
        })
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        loop {
            self.events = match std::mem::replace(&mut self.events, Events::Over) {
                Events::Over => return Poll::Ready(None),
                Events::Starting(mut started, events) => match Pin::new(&mut started).poll(context) {
                    Poll::Pending => {
                        self.events = Events::Starting(started, events);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(run_id)) => Events::Running(run_id, events),
                    Poll::Ready(Err(_)) => Events::Over,
                },
                Events::Running(run_id, mut events) => {
                    let polled = events.poll_next_unpin(context);
                    match polled {
                        Poll::Pending => {
                            self.events = Events::Running(run_id, events);
                            return Poll::Pending;
                        }
                        Poll::Ready(Some(Ok(event))) => {
                            if !ends(&event, &run_id) {
                                self.events = Events::Running(run_id, events);
                            }
                            return Poll::Ready(Some(event));
                        }
                        // The reply says why it ended.
                        Poll::Ready(Some(Err(_)) | None) => Events::Over,
                    }
                }
            };
        }
    }
}

impl IntoFuture for Run {
    type Output = Result<Reply>;
    type IntoFuture = BoxFuture<'static, Result<Reply>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.reply())
    }
}

fn ends(event: &Event, run_id: &RunId) -> bool {
    matches!(event.kind, AgentEvent::Run(RunEvent::End { .. })) && event.run_id.as_ref() == Some(run_id)
}

/// The text of a run; see [`Run::text`].
pub struct TextOfRun<'a> {
    run: &'a mut Run,
}

impl TextOfRun<'_> {
    /// The next piece of text; `None` once the run is over.
    pub async fn next(&mut self) -> Option<String> {
        poll_fn(|context| self.poll_text(context)).await
    }

    fn poll_text(&mut self, context: &mut Context<'_>) -> Poll<Option<String>> {
        loop {
            let Some(event) = ready!(self.run.poll_event(context)) else { return Poll::Ready(None) };
            if let AgentEvent::Message(MessageEvent::TextDelta { delta }) = &event.kind {
                return Poll::Ready(Some(delta.to_string()));
            }
        }
    }
}

impl Stream for TextOfRun<'_> {
    type Item = String;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<String>> {
        self.poll_text(context)
    }
}

/// The events of a run; see [`Run::events`].
pub struct EventsOfRun<'a> {
    run: &'a mut Run,
}

impl EventsOfRun<'_> {
    /// The next event; `None` once the run is over.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        poll_fn(|context| self.run.poll_event(context)).await
    }
}

impl Stream for EventsOfRun<'_> {
    type Item = Arc<Event>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        self.run.poll_event(context)
    }
}

/// Follows a run to its end, and answers its approval requests on the way.
struct Driver {
    client: Arc<dyn Client>,
    session_id: SessionId,
    approve: Option<Approve>,
    cancel: CancellationToken,
    diff: String,
    answers: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Driver {
    async fn run(mut self, command: Command, started: oneshot::Sender<RunId>) -> Result<Reply> {
        if let Command::Prompt { content } | Command::PromptWithSchema { content, .. } = &command
            && content.is_empty()
        {
            return Err(empty_prompt());
        }
        let subscription = Subscription::from_now();
        let subscription = if self.approve.is_some() { subscription.answering() } else { subscription };
        let mut events = self.client.events(subscription);
        let lost = || ClientError::closed("the session was closed before the run ended");
        let run_id = self.client.send(command).await?.run_id.ok_or_else(lost)?;
        // The events may have no reader.
        started.send(run_id.clone()).ok();
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                event = events.next() => {
                    let event = event.ok_or_else(lost)??;
                    if let Some(reply) = self.take(&event, &run_id) {
                        return reply;
                    }
                }
                Some(()) = self.answers.next() => {}
                () = self.cancel.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    self.client.send(Command::Cancel { child: None }).await?;
                }
            }
        }
    }

    /// Takes in an event; the reply once the run is over.
    fn take(&mut self, event: &Event, run_id: &RunId) -> Option<Result<Reply>> {
        match &event.kind {
            AgentEvent::Approval(ApprovalEvent::Required { request })
                if event.session_id == self.session_id =>
            {
                self.answer(request);
            }
            AgentEvent::Tool(ToolEvent::End { result, .. }) => {
                if let Some(diff) = result.details.get("diff").and_then(|diff| diff.as_str()) {
                    self.diff.push_str(diff);
                }
            }
            AgentEvent::Run(RunEvent::End { output }) if ends(event, run_id) => {
                return Some(match &output.end {
                    RunEnd::Failed { failure } => Err(Error::failed(failure.clone(), Arc::clone(output))),
                    RunEnd::Completed
                    | RunEnd::Truncated
                    | RunEnd::Limit { .. }
                    | RunEnd::Rejected { .. }
                    | RunEnd::Vetoed { .. }
                    | RunEnd::Stuck { .. }
                    | RunEnd::Aborted => Ok(Reply::new(Arc::clone(output), std::mem::take(&mut self.diff))),
                });
            }
            _ => {}
        }
        None
    }

    fn answer(&mut self, request: &ApprovalRequest) {
        let Some(approve) = &self.approve else { return };
        let (client, request_id) = (Arc::clone(&self.client), request.id.clone());
        let response = approve(request.clone());
        self.answers.push(Box::pin(async move {
            let response = response.await;
            // Another client answered first, or the run is over.
            client.send(Command::RespondPermission { request_id, response }).await.ok();
        }));
    }
}
