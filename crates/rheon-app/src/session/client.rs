//! `LocalClient`: a session of this process, reached as any other would be.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures::Stream;
use rheon_agent::{Agent, AgentError, Answerer, Prompt, RunStream};
use rheon_policy::PolicyGate;
use rheon_types::{BoxFuture, Client, ClientError, Command, Content, Event, EventStream};
use tokio::sync::mpsc;

/// How many events may wait for a watcher before the run waits for it.
const WAITING_EVENTS_MAX: usize = 256;

/// A session of this process. Clones are the same one.
///
/// Whoever watches sees every event in order; a watcher that reads slowly slows the run down instead of missing something, and one
/// that has left holds up nothing. While a client lives, somebody is there to answer questions.
#[derive(Clone)]
pub struct LocalClient {
    shared: Arc<Shared>,
}

struct Shared {
    agent: Agent,
    gate: Option<Arc<PolicyGate>>,
    past: Past,
    answerer: Option<Answerer>,
    watchers: Mutex<Vec<mpsc::Sender<Arc<Event>>>>,
}

/// Reads the durable events after a number from where they are kept.
pub type Past = Arc<dyn Fn(u64) -> Result<Vec<Arc<Event>>, ClientError> + Send + Sync>;

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Whoever holds the client answers approval requests.
    Somebody,
    /// Nobody does: what would ask is refused.
    Nobody,
}

/// What a client is made of.
pub struct ClientParts {
    /// The agent behind it.
    pub agent: Agent,
    /// The gate whose mode it changes.
    pub gate: Option<Arc<PolicyGate>>,
    /// Where earlier events are read from.
    pub past: Past,
    /// Whether somebody can be asked.
    pub asking: Asking,
}

impl LocalClient {
    /// Reaches the session of an agent.
    pub fn new(parts: ClientParts) -> Self {
        let ClientParts { agent, gate, past, asking } = parts;
        let answerer = match asking {
            Asking::Somebody => Some(agent.answerer()),
            Asking::Nobody => None,
        };
        Self { shared: Arc::new(Shared { agent, gate, past, answerer, watchers: Mutex::default() }) }
    }

    /// The agent behind it.
    pub fn agent(&self) -> &Agent {
        &self.shared.agent
    }

    /// Everything that happens from now on.
    pub fn watch(&self) -> Watch {
        let (sender, receiver) = mpsc::channel(WAITING_EVENTS_MAX);
        self.shared.watchers().push(sender);
        Watch { receiver }
    }

    fn take(&self, command: Command) -> Result<(), ClientError> {
        let Shared { agent, gate, answerer, .. } = &*self.shared;
        match command {
            Command::Prompt { content } => self.show(agent.run_stream(prompt(content))),
            Command::Continue { kind } => self.show(agent.continue_run(kind)),
            Command::Compact { instructions } => self.show(agent.compact(instructions.unwrap_or_default())),
            Command::Steer { content } => {
                agent.steer(prompt(content));
                Ok(())
            }
            Command::FollowUp { content } => {
                agent.follow_up(prompt(content));
                Ok(())
            }
            Command::Cancel => {
                agent.abort();
                Ok(())
            }
            Command::RespondPermission { request_id, response } => {
                let Some(answerer) = answerer else {
                    return Err(ClientError::Refused("nobody is asked in this session".into()));
                };
                answerer.respond(&request_id, response).map_err(refused)
            }
            Command::SetMode { mode } => match gate {
                Some(gate) => gate.set_mode(mode).map_err(refused),
                None => Err(ClientError::Refused("this session has no permission mode".into())),
            },
        }
    }

    /// Passes the events of a run on, as fast as its watchers read.
    fn show(&self, run: Result<RunStream, AgentError>) -> Result<(), ClientError> {
        // Whoever holds the client answers, or nobody.
        let mut run = run.map_err(refused)?.without_answers();
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            while let Some(event) = run.next().await {
                shared.pass_on(event).await;
            }
        });
        Ok(())
    }
}

impl Shared {
    async fn pass_on(&self, event: Arc<Event>) {
        let watchers = self.watchers().clone();
        let mut left = false;
        for watcher in watchers {
            left |= watcher.send(Arc::clone(&event)).await.is_err();
        }
        if left {
            self.watchers().retain(|watcher| !watcher.is_closed());
        }
    }

    fn watchers(&self) -> MutexGuard<'_, Vec<mpsc::Sender<Arc<Event>>>> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client for LocalClient {
    fn send(&self, command: Command) -> BoxFuture<'_, Result<(), ClientError>> {
        let taken = self.take(command);
        Box::pin(async move { taken })
    }

    fn events(&self, after_seq: u64) -> EventStream {
        // Watching begins before the past is read, so that nothing falls between the two.
        let live = self.watch();
        Box::pin(Events { past: (self.shared.past)(after_seq).map(Vec::into_iter), live, seq: after_seq })
    }
}

/// The events of a session as they happen.
pub struct Watch {
    receiver: mpsc::Receiver<Arc<Event>>,
}

impl Watch {
    /// The next event; `None` once the session is gone.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        self.receiver.recv().await
    }
}

/// Earlier events, then those that happen.
struct Events {
    past: Result<std::vec::IntoIter<Arc<Event>>, ClientError>,
    live: Watch,
    /// The last durable event that was shown.
    seq: u64,
}

impl Stream for Events {
    type Item = Result<Arc<Event>, ClientError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        match std::mem::replace(&mut this.past, Ok(Vec::new().into_iter())) {
            Err(error) => return Poll::Ready(Some(Err(error))),
            Ok(mut past) => {
                if let Some(event) = past.next() {
                    this.past = Ok(past);
                    this.seq = this.seq.max(event.seq);
                    return Poll::Ready(Some(Ok(event)));
                }
            }
        }
        loop {
            match this.live.receiver.poll_recv(context) {
                Poll::Ready(Some(event)) if event.kind.is_durable() && event.seq <= this.seq => {}
                Poll::Ready(Some(event)) => {
                    this.seq = this.seq.max(event.seq);
                    return Poll::Ready(Some(Ok(event)));
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

fn prompt(content: Vec<Content>) -> Prompt {
    content.into()
}

fn refused(error: impl std::fmt::Display) -> ClientError {
    ClientError::Refused(error.to_string())
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
