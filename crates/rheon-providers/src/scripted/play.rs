//! `Play`: the stream of one response.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use rheon_types::{BoxFuture, Chunk, ProviderError, ProviderErrorKind, Request, ToolCallId};
use tokio_util::sync::CancellationToken;

use super::compile::Op;
use super::script::{Script, StartedTurn};

/// The stream of one response. A ready chunk costs a check of the token and a copy: deltas of up to 24 bytes are not
/// allocated. Only waits are boxed.
pub(super) struct Play {
    stage: Stage,
    cancel: CancellationToken,
}

enum Stage {
    /// No turn is chosen before the first poll.
    New(Arc<Script>, Box<Request>),
    PlayState(PlayState),
    Ended,
}

struct PlayState {
    started: StartedTurn,
    /// The next operation.
    next: usize,
    /// The current wait.
    wait: Option<BoxFuture<'static, WaitEnd>>,
}

/// Why a wait ended.
enum WaitEnd {
    Elapsed,
    Cancelled,
}

type Item = Result<Chunk, ProviderError>;

impl Play {
    pub(super) fn new(script: Arc<Script>, request: Request, cancel: CancellationToken) -> Self {
        Self { stage: Stage::New(script, Box::new(request)), cancel }
    }

    fn fail(&mut self, error: ProviderError) -> Poll<Option<Item>> {
        self.stage = Stage::Ended;
        Poll::Ready(Some(Err(error)))
    }
}

impl Stream for Play {
    type Item = Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        let this = self.get_mut();
        if matches!(this.stage, Stage::Ended) {
            return Poll::Ready(None);
        }
        if this.cancel.is_cancelled() {
            return this.fail(cancelled());
        }
        if let Stage::New(script, request) = &this.stage {
            match script.begin(Request::clone(request)) {
                Ok(started) => this.stage = Stage::PlayState(PlayState { started, next: 0, wait: None }),
                Err(error) => return this.fail(error),
            }
        }
        let Stage::PlayState(playing) = &mut this.stage else { return Poll::Ready(None) };
        loop {
            if let Some(wait) = &mut playing.wait {
                match ready!(wait.as_mut().poll(cx)) {
                    WaitEnd::Elapsed => playing.wait = None,
                    WaitEnd::Cancelled => return this.fail(cancelled()),
                }
            }
            let op = playing.started.ops.get(playing.next);
            playing.next += 1;
            match op {
                Some(Op::Chunk(chunk)) => {
                    let chunk = chunk.clone();
                    // Nothing follows `Done`, not even a cancellation.
                    if matches!(chunk, Chunk::Done { .. }) {
                        this.stage = Stage::Ended;
                    }
                    return Poll::Ready(Some(Ok(chunk)));
                }
                Some(Op::StartCall { index, name }) => {
                    let id = ToolCallId::from(format!("call_{}_{index}", playing.started.number));
                    let (index, name) = (*index, name.clone());
                    return Poll::Ready(Some(Ok(Chunk::ToolCallStart { index, id, name })));
                }
                Some(Op::Delay(duration)) => playing.wait = Some(delay(*duration, this.cancel.clone())),
                Some(Op::Hang) => playing.wait = Some(hang(this.cancel.clone())),
                Some(Op::Fail(error)) => {
                    let error = error.clone();
                    return this.fail(error);
                }
                None => {
                    this.stage = Stage::Ended;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

fn delay(duration: Duration, cancel: CancellationToken) -> BoxFuture<'static, WaitEnd> {
    Box::pin(async move {
        tokio::select! {
            biased;
            () = cancel.cancelled() => WaitEnd::Cancelled,
            () = tokio::time::sleep(duration) => WaitEnd::Elapsed,
        }
    })
}

fn hang(cancel: CancellationToken) -> BoxFuture<'static, WaitEnd> {
    Box::pin(async move {
        cancel.cancelled().await;
        WaitEnd::Cancelled
    })
}

fn cancelled() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the call was canceled")
}
