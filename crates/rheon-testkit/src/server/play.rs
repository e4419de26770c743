//! Plays a plan: sends pieces to the transport as fast as the plan and the client allow.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc;

use super::fault::Tick;
use super::flush::Flushes;
use super::plan::{Pace, Step};
use super::record::{Records, ReplyEnd};
use super::state::State;

/// What the player sends to the transport.
enum Piece {
    Data(Bytes),
    Cut,
}

/// The body of a response. The transport drops it when the client disconnects.
pub(crate) struct PlayedBody {
    pieces: mpsc::Receiver<Piece>,
    flushes: Arc<Flushes>,
    /// The flush count when the last data was passed on.
    flushed_before: u64,
    is_cut: bool,
}

impl Body for PlayedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if !self.is_cut {
            match self.pieces.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Piece::Data(bytes))) => {
                    self.flushed_before = self.flushes.count();
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Poll::Ready(Some(Piece::Cut)) => self.is_cut = true,
            }
        }
        // The transport discards unsent data when a body fails, so everything is flushed first.
        if self.flushes.is_past(self.flushed_before, context.waker()) {
            return Poll::Ready(Some(Err(io::Error::other("the script cuts the response here"))));
        }
        Poll::Pending
    }
}

/// Plays these steps as the response to request `number`; `released_before` is the release count when it arrived.
pub(crate) fn play(
    state: &Arc<State>,
    flushes: &Arc<Flushes>,
    number: usize,
    released_before: usize,
    steps: Vec<Step>,
    pace: Pace,
) -> PlayedBody {
    let (sender, pieces) = mpsc::channel(1);
    let player = Player { state: Arc::clone(state), sender, number, released_before, pace };
    state.spawn(player.run(steps));
    PlayedBody { pieces, flushes: Arc::clone(flushes), flushed_before: flushes.count(), is_cut: false }
}

/// The client has disconnected.
struct Disconnected;

struct Player {
    state: Arc<State>,
    sender: mpsc::Sender<Piece>,
    number: usize,
    released_before: usize,
    pace: Pace,
}

impl Player {
    async fn run(self, steps: Vec<Step>) {
        let ending = match self.steps(steps).await {
            Ok(ending) => ending,
            Err(Disconnected) => ReplyEnd::Disconnected,
        };
        let Self { state, sender, number, .. } = self;
        let ending = match ending {
            ReplyEnd::Sent => {
                // The last piece is sent only once the transport has taken it.
                match sender.reserve().await {
                    Ok(_) => ReplyEnd::Sent,
                    Err(_) => ReplyEnd::Disconnected,
                }
            }
            ReplyEnd::Disconnected | ReplyEnd::Cut => ending,
        };
        drop(sender);
        state.records.progress(number, |progress| progress.ending = Some(ending));
    }

    async fn steps(&self, steps: Vec<Step>) -> Result<ReplyEnd, Disconnected> {
        for step in steps {
            match step {
                Step::Part(bytes) => self.send(bytes).await?,
                Step::Event(bytes) => {
                    self.send(bytes).await?;
                    self.records().progress(self.number, |progress| progress.events += 1);
                }
                Step::Stall => self.stall().await?,
                Step::Endless(bytes) => loop {
                    self.send(bytes.clone()).await?;
                    self.records().progress(self.number, |progress| progress.events += 1);
                },
                Step::Cut => {
                    self.sender.send(Piece::Cut).await.map_err(|_| Disconnected)?;
                    return Ok(ReplyEnd::Cut);
                }
            }
        }
        Ok(ReplyEnd::Sent)
    }

    fn records(&self) -> &Records {
        &self.state.records
    }

    async fn send(&self, mut bytes: Bytes) -> Result<(), Disconnected> {
        while !bytes.is_empty() {
            match self.pace.tick {
                None => {}
                Some(tick) => self.tick(tick).await?,
            }
            let piece = bytes.split_to(bytes.len().min(self.pace.piece_bytes));
            let length = piece.len() as u64;
            self.sender.send(Piece::Data(piece)).await.map_err(|_| Disconnected)?;
            self.records().progress(self.number, |progress| progress.bytes += length);
        }
        Ok(())
    }

    async fn tick(&self, tick: Tick) -> Result<(), Disconnected> {
        let wait = async {
            match tick {
                Tick::ByTest => match self.state.ticks.acquire().await {
                    Ok(permit) => permit.forget(),
                    // The semaphore is never closed.
                    Err(_) => std::future::pending().await,
                },
                Tick::Every(time) => tokio::time::sleep(time).await,
            }
        };
        tokio::select! {
            () = wait => Ok(()),
            () = self.sender.closed() => Err(Disconnected),
        }
    }

    async fn stall(&self) -> Result<(), Disconnected> {
        self.records().progress(self.number, |progress| progress.stalled = true);
        let released = self.records().wait(|log| (log.releases > self.released_before).then_some(()));
        let result = tokio::select! {
            () = released => Ok(()),
            () = self.sender.closed() => Err(Disconnected),
        };
        self.records().progress(self.number, |progress| progress.stalled = false);
        result
    }
}
