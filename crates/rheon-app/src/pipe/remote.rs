//! `PipeHost`: a host at the other end of a pipe, and its sessions.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures::Stream;
use rheon_types::protocol::{
    Ack, Command, HostCommand, HostQuery, HostReply, OpenRequest, Query, Reply, Subscription,
};
use rheon_types::{BoxFuture, Client, ClientError, Event, EventStream, Host};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};

use super::frame::{FromHost, ToHost, encode};
use super::limits::{Ends, FRAME_BYTES_MAX, WINDOW_BYTES};
use super::lines::{self, Lines};
use super::table::{Do, Shown, Table};

/// A host at the other end of a pipe. The pipe is closed when this, its sessions and their streams are dropped.
pub struct PipeHost {
    connection: Arc<Connection>,
}

impl PipeHost {
    /// Connects to the host at the other end of `reader` and `writer`. Needs a runtime.
    pub fn connect<R, W>(reader: R, writer: W) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outgoing, waiting) = mpsc::unbounded_channel();
        let table = Arc::new(Mutex::new(Table::default()));
        let unwritten = Arc::clone(&table);
        // Ends when all senders are dropped.
        drop(tokio::spawn(async move {
            if let Err(error) = lines::write(waiting, writer).await {
                lock(&unwritten).close(&gone(&error.to_string()));
            }
        }));
        let reading =
            tokio::spawn(read(Lines::new(reader, FRAME_BYTES_MAX), Arc::clone(&table), outgoing.downgrade()));
        Self { connection: Arc::new(Connection { outgoing, table, _reading: Ends(reading) }) }
    }
}

/// Handles messages of the host until it disconnects.
async fn read<R: AsyncRead + Unpin>(
    mut lines: Lines<R>,
    table: Arc<Mutex<Table>>,
    outgoing: mpsc::WeakUnboundedSender<Vec<u8>>,
) {
    let error = loop {
        let line = match lines.next().await {
            Ok(Some(line)) => line,
            Ok(None) => break gone("the other side closed it"),
            Err(error) => break gone(&error.to_string()),
        };
        let todo = lock(&table).take(&line);
        match todo {
            Do::Nothing => {}
            Do::Release { session } => {
                if let (Some(outgoing), Ok(line)) =
                    (outgoing.upgrade(), encode(&ToHost::Release { session }, FRAME_BYTES_MAX))
                {
                    // After a write failure nothing is queued.
                    outgoing.send(line).ok();
                }
            }
            Do::Close => break gone("the other side does not speak the session protocol"),
        }
    };
    lock(&table).close(&error);
}

/// One pipe, shared by its users.
struct Connection {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    table: Arc<Mutex<Table>>,
    _reading: Ends,
}

impl Connection {
    fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    fn say(&self, frame: &ToHost) -> Result<(), ClientError> {
        let line = encode(frame, FRAME_BYTES_MAX)?;
        self.outgoing.send(line).map_err(|_| gone("it cannot be written to"))
    }

    async fn request(&self, frame: impl FnOnce(u64) -> ToHost) -> Result<FromHost, ClientError> {
        let (answered, answer) = oneshot::channel();
        let id = self.table().request(answered)?;
        let mut asking = Asking { connection: self, id, answer };
        self.say(&frame(id))?;
        (&mut asking.answer).await.unwrap_or_else(|_| Err(gone("the request was dropped")))
    }
}

/// A pending request. Dropping it removes it from the table and closes what it opened.
struct Asking<'a> {
    connection: &'a Connection,
    id: u64,
    answer: oneshot::Receiver<Result<FromHost, ClientError>>,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.connection.table().forget(self.id);
        if let Ok(Ok(FromHost::Opened { session, .. })) = self.answer.try_recv() {
            // A closed pipe has no sessions.
            self.connection.say(&ToHost::Release { session }).ok();
        }
    }
}

impl Host for PipeHost {
    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<Arc<dyn Client>, ClientError>> {
        Box::pin(async move {
            let request = Box::new(request);
            match self.connection.request(|id| ToHost::Open { id, request }).await? {
                FromHost::Opened { session, .. } => {
                    let connection = Arc::clone(&self.connection);
                    Ok(Arc::new(PipeClient { connection, session }) as Arc<dyn Client>)
                }
                _ => Err(unexpected()),
            }
        })
    }

    fn query(&self, query: HostQuery) -> BoxFuture<'_, Result<HostReply, ClientError>> {
        Box::pin(async move {
            match self.connection.request(|id| ToHost::AskHost { id, query }).await? {
                FromHost::HostReply { reply, .. } => Ok(reply),
                _ => Err(unexpected()),
            }
        })
    }

    fn send(&self, command: HostCommand) -> BoxFuture<'_, Result<HostReply, ClientError>> {
        Box::pin(async move {
            match self.connection.request(|id| ToHost::TellHost { id, command }).await? {
                FromHost::HostReply { reply, .. } => Ok(reply),
                _ => Err(unexpected()),
            }
        })
    }
}

/// A session at the other end of a pipe.
struct PipeClient {
    connection: Arc<Connection>,
    session: u64,
}

impl Client for PipeClient {
    fn send(&self, command: Command) -> BoxFuture<'_, Result<Ack, ClientError>> {
        let session = self.session;
        Box::pin(async move {
            match self.connection.request(|id| ToHost::Send { id, session, command }).await? {
                FromHost::Ack { ack, .. } => Ok(ack),
                _ => Err(unexpected()),
            }
        })
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>> {
        let session = self.session;
        Box::pin(async move {
            match self.connection.request(|id| ToHost::Ask { id, session, query }).await? {
                FromHost::Reply { reply, .. } => Ok(reply),
                _ => Err(unexpected()),
            }
        })
    }

    fn events(&self, subscription: Subscription) -> EventStream {
        match Events::begin(&self.connection, self.session, subscription) {
            Ok(events) => Box::pin(events),
            Err(error) => Box::pin(futures::stream::iter([Err(error)])),
        }
    }
}

impl Drop for PipeClient {
    fn drop(&mut self) {
        // A closed pipe has no sessions.
        self.connection.say(&ToHost::Release { session: self.session }).ok();
    }
}

/// The events of a subscription. Dropping it ends the subscription.
struct Events {
    connection: Arc<Connection>,
    id: u64,
    shown: mpsc::UnboundedReceiver<Shown>,
    /// The bytes read so far, and those acknowledged to the host.
    seen: u64,
    told: u64,
}

impl Events {
    fn begin(
        connection: &Arc<Connection>,
        session: u64,
        subscription: Subscription,
    ) -> Result<Self, ClientError> {
        // The queue is bounded by the number of events the host may send before an acknowledgement.
        let (sender, shown) = mpsc::unbounded_channel();
        let id = connection.table().subscribe(sender)?;
        let events = Self { connection: Arc::clone(connection), id, shown, seen: 0, told: 0 };
        connection.say(&ToHost::Subscribe { id, session, subscription })?;
        Ok(events)
    }

    fn read(&mut self, bytes: u64) {
        self.seen = self.seen.saturating_add(bytes);
        if self.seen.saturating_sub(self.told) >= WINDOW_BYTES / 4 {
            self.told = self.seen;
            self.connection.table().seen(self.id, self.seen);
            // After a write failure the stream ends by itself.
            self.connection.say(&ToHost::Seen { id: self.id, bytes: self.seen }).ok();
        }
    }
}

impl Stream for Events {
    type Item = Result<Arc<Event>, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.shown.poll_recv(context).map(|shown| {
            Some(match shown? {
                Ok((event, bytes)) => {
                    self.read(bytes);
                    Ok(event)
                }
                Err(error) => Err(error),
            })
        })
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let is_open = self.connection.table().forget(self.id);
        if is_open {
            // A closed pipe has no events.
            self.connection.say(&ToHost::Unsubscribe { id: self.id }).ok();
        }
    }
}

fn gone(problem: &str) -> ClientError {
    ClientError::closed(format!("the connection to the host is gone: {problem}"))
}

fn unexpected() -> ClientError {
    ClientError::failed("the host sent the wrong kind of answer")
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
