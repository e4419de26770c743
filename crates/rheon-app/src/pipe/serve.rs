//! The host's side of a pipe: reads requests, answers them, and shows the events of subscriptions.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures::StreamExt as _;
use rheon_types::protocol::Subscription;
use rheon_types::{Client, ClientError, EventStream, Host};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::frame::{FromHost, Strange, ToHost, decode, encode, id_at_start, too_large};
use super::limits::{Ends, FRAME_BYTES_MAX, GARBAGE_MAX, WINDOW_BYTES};
use super::lines::{self, Line, Lines};

/// The most concurrent requests of one peer.
const REQUESTS_MAX: usize = 1_024;

/// The most subscriptions of one peer.
const SUBSCRIPTIONS_MAX: usize = 4_096;

/// How many frames may wait for a peer that does not read.
const WAITING_MAX: usize = 64;

/// Serves one peer until it disconnects. Then its subscriptions end, and so do sessions that no one else uses. A request that was
/// accepted is completed.
pub async fn serve<R, W>(host: Arc<dyn Host>, reader: R, writer: W)
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (outgoing, waiting) = mpsc::channel(WAITING_MAX);
    // A peer that cannot be written to shows by the closed queue.
    let writing = tokio::spawn(async move { drop(lines::write(waiting, writer).await) });
    let mut peer = Peer {
        host,
        outgoing: outgoing.clone(),
        sessions: Arc::default(),
        subscriptions: Arc::default(),
        requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
        garbage: 0,
    };
    let mut lines = Lines::new(reader, FRAME_BYTES_MAX);
    let is_over = loop {
        let line = tokio::select! {
            biased;
            () = outgoing.closed() => break false,
            line = lines.next() => line,
        };
        let Ok(Some(line)) = line else { break false };
        if peer.take(line).await == Then::Close {
            break true;
        }
    };
    drop((peer, outgoing));
    if !is_over {
        writing.abort();
    }
    // Otherwise the peer gets the reason, if it reads at all.
}

/// Whether a connection continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    Close,
}

/// One peer and what it holds.
struct Peer {
    host: Arc<dyn Host>,
    outgoing: mpsc::Sender<Vec<u8>>,
    sessions: Arc<Mutex<Sessions>>,
    subscriptions: Arc<Mutex<HashMap<u64, Subscribed>>>,
    requests: Arc<Semaphore>,
    garbage: u32,
}

#[derive(Default)]
struct Sessions {
    opened: u64,
    open: HashMap<u64, Arc<dyn Client>>,
}

/// A subscription. It ends when this is dropped.
struct Subscribed {
    /// How many bytes of it the peer has read.
    seen: watch::Sender<u64>,
    _showing: Ends,
}

impl Drop for Peer {
    fn drop(&mut self) {
        lock(&self.subscriptions).clear();
        lock(&self.sessions).open.clear();
    }
}

impl Peer {
    async fn take(&mut self, line: Line<'_>) -> Then {
        let frame = match line {
            Line::Whole(line) => decode(line),
            Line::TooLong(head) => {
                let error = too_large(FRAME_BYTES_MAX);
                self.say(match id_at_start(head) {
                    Some(id) => FromHost::Failed { id, error },
                    None => FromHost::Refused { error },
                })
                .await;
                return self.count();
            }
        };
        match frame {
            Ok(frame) => {
                self.carry_out(frame).await;
                Then::GoOn
            }
            Err(Strange::Unknown { kind, id, problem }) => {
                let error = ClientError::invalid(format!("cannot read the request {kind:?}: {problem}"));
                self.say(match id {
                    Some(id) => FromHost::Failed { id, error },
                    None => FromHost::Refused { error },
                })
                .await;
                Then::GoOn
            }
            Err(Strange::Garbage(problem)) => {
                let error = ClientError::invalid(format!("this is not a request: {problem}"));
                self.say(FromHost::Refused { error }).await;
                self.count()
            }
        }
    }

    /// Counts an invalid line.
    fn count(&mut self) -> Then {
        self.garbage += 1;
        if self.garbage > GARBAGE_MAX { Then::Close } else { Then::GoOn }
    }

    async fn carry_out(&self, frame: ToHost) {
        let host = Arc::clone(&self.host);
        match frame {
            ToHost::Open { id, request } => {
                let sessions = Arc::clone(&self.sessions);
                let open = async move {
                    let client = host.open(*request).await?;
                    let mut sessions = lock(&sessions);
                    sessions.opened += 1;
                    let session = sessions.opened;
                    sessions.open.insert(session, client);
                    Ok(FromHost::Opened { id, session })
                };
                self.request(id, open).await;
            }
            ToHost::AskHost { id, query } => {
                let answer = async move { Ok(FromHost::HostReply { id, reply: host.query(query).await? }) };
                self.request(id, answer).await;
            }
            ToHost::TellHost { id, command } => {
                let answer = async move { Ok(FromHost::HostReply { id, reply: host.send(command).await? }) };
                self.request(id, answer).await;
            }
            ToHost::Send { id, session, command } => {
                let client = self.session(session);
                let taken = async move { Ok(FromHost::Ack { id, ack: client?.send(command).await? }) };
                self.request(id, taken).await;
            }
            ToHost::Ask { id, session, query } => {
                let client = self.session(session);
                let answer = async move { Ok(FromHost::Reply { id, reply: client?.query(query).await? }) };
                self.request(id, answer).await;
            }
            ToHost::Subscribe { id, session, subscription } => {
                if let Err(error) = self.subscribe(id, session, subscription) {
                    self.say(FromHost::Failed { id, error }).await;
                }
            }
            ToHost::Seen { id, bytes } => {
                if let Some(subscribed) = lock(&self.subscriptions).get(&id) {
                    subscribed.seen.send_modify(|seen| *seen = bytes.max(*seen));
                }
            }
            ToHost::Unsubscribe { id } => {
                let ended = lock(&self.subscriptions).remove(&id);
                drop(ended);
            }
            ToHost::Release { session } => {
                let released = lock(&self.sessions).open.remove(&session);
                drop(released);
            }
        }
    }

    fn session(&self, session: u64) -> Result<Arc<dyn Client>, ClientError> {
        let client = lock(&self.sessions).open.get(&session).cloned();
        client.ok_or_else(|| ClientError::closed(format!("session {session} is not open on this connection")))
    }

    /// Handles a request concurrently with others. Requests start in the order of their arrival.
    async fn request(
        &self,
        id: u64,
        answer: impl Future<Output = Result<FromHost, ClientError>> + Send + 'static,
    ) {
        let Ok(permit) = Arc::clone(&self.requests).try_acquire_owned() else {
            let message = format!("more than {REQUESTS_MAX} requests are pending; wait for their answers");
            self.say(FromHost::Failed { id, error: ClientError::Busy { message } }).await;
            return;
        };
        let mut answer: Answer = Box::pin(answer);
        match futures::poll!(&mut answer) {
            Poll::Ready(answer) => say(&self.outgoing, id, answer).await,
            Poll::Pending => drop(tokio::spawn(finish(self.outgoing.clone(), id, answer, permit))),
        }
    }

    fn subscribe(&self, id: u64, session: u64, subscription: Subscription) -> Result<(), ClientError> {
        let client = self.session(session)?;
        let mut subscriptions = lock(&self.subscriptions);
        if subscriptions.contains_key(&id) {
            return Err(ClientError::invalid(format!("there is a subscription {id} already")));
        }
        if subscriptions.len() >= SUBSCRIPTIONS_MAX {
            let message = format!("this connection has {SUBSCRIPTIONS_MAX} subscriptions; end some of them");
            return Err(ClientError::Busy { message });
        }
        // The subscription starts now, so it sees the effects of later requests.
        let events = client.events(subscription);
        let (seen, seen_by_peer) = watch::channel(0);
        let (outgoing, all) = (self.outgoing.clone(), Arc::clone(&self.subscriptions));
        let showing = tokio::spawn(async move {
            let last = show(id, events, seen_by_peer, &outgoing).await;
            if let Some(last) = last {
                say(&outgoing, id, Ok(last)).await;
            }
            // Ends this task, which is done.
            let over = lock(&all).remove(&id);
            drop(over);
        });
        subscriptions.insert(id, Subscribed { seen, _showing: Ends(showing) });
        Ok(())
    }

    async fn say(&self, frame: FromHost) {
        say(&self.outgoing, 0, Ok(frame)).await;
    }
}

type Answer = Pin<Box<dyn Future<Output = Result<FromHost, ClientError>> + Send>>;

async fn finish(outgoing: mpsc::Sender<Vec<u8>>, id: u64, answer: Answer, permit: OwnedSemaphorePermit) {
    let answer = answer.await;
    drop(permit);
    say(&outgoing, id, answer).await;
}

/// Sends the answer to request `id`, or an error if it is too large.
async fn say(outgoing: &mpsc::Sender<Vec<u8>>, id: u64, answer: Result<FromHost, ClientError>) {
    let frame = answer.unwrap_or_else(|error| FromHost::Failed { id, error });
    let line = encode(&frame, FRAME_BYTES_MAX);
    drop(frame);
    let line = line.or_else(|error| encode(&FromHost::Failed { id, error }, FRAME_BYTES_MAX));
    if let Ok(line) = line {
        // A peer that has disconnected needs no answer.
        outgoing.send(line).await.ok();
    }
}

/// Sends events as fast as the peer reads them. Returns the final message.
async fn show(
    id: u64,
    mut events: EventStream,
    mut seen: watch::Receiver<u64>,
    outgoing: &mpsc::Sender<Vec<u8>>,
) -> Option<FromHost> {
    let mut sent: u64 = 0;
    loop {
        let has_room = |seen: &u64| sent.saturating_sub(*seen) < WINDOW_BYTES;
        seen.wait_for(has_room).await.ok()?;
        let event = match events.next().await {
            None => return Some(FromHost::End { id }),
            Some(Err(error)) => return Some(FromHost::Failed { id, error }),
            Some(Ok(event)) => event,
        };
        let seq = event.seq;
        match encode(&FromHost::Event { id, event }, FRAME_BYTES_MAX) {
            Ok(line) => {
                sent = sent.saturating_add(line.len() as u64);
                outgoing.send(line).await.ok()?;
            }
            Err(error) => {
                let error = ClientError::failed(format!("event {seq} cannot be shown: {error}"));
                return Some(FromHost::Failed { id, error });
            }
        }
    }
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
