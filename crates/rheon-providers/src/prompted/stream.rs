//! A stream of chunks behind a filter.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use rheon_types::{Chunk, ChunkStream, ProviderError};

use super::decode::Steps;
use super::lenient::Lenient;

pub(super) enum Filter {
    Steps(Steps),
    Lenient(Lenient),
}

impl Filter {
    fn push(&mut self, chunk: Chunk, out: &mut VecDeque<Chunk>) {
        match self {
            Self::Steps(steps) => steps.push(chunk, out),
            Self::Lenient(lenient) => lenient.push(chunk, out),
        }
    }

    fn cut(&mut self, out: &mut VecDeque<Chunk>) {
        match self {
            Self::Steps(steps) => steps.cut(out),
            Self::Lenient(lenient) => lenient.cut(out),
        }
    }
}

pub(super) struct FilteredStream {
    inner: ChunkStream,
    filter: Filter,
    ready: VecDeque<Chunk>,
    state: State,
}

enum State {
    Running,
    /// Ends the stream after the ready chunks.
    Failed(ProviderError),
    Ended,
}

impl FilteredStream {
    pub(super) fn new(inner: ChunkStream, filter: Filter) -> Self {
        Self { inner, filter, ready: VecDeque::new(), state: State::Running }
    }
}

impl Stream for FilteredStream {
    type Item = Result<Chunk, ProviderError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(chunk) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(chunk)));
            }
            match std::mem::replace(&mut this.state, State::Ended) {
                State::Failed(error) => return Poll::Ready(Some(Err(error))),
                State::Ended => return Poll::Ready(None),
                State::Running => this.state = State::Running,
            }
            match ready!(this.inner.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => {
                    if matches!(chunk, Chunk::Done { .. }) {
                        this.state = State::Ended;
                    }
                    this.filter.push(chunk, &mut this.ready);
                }
                Some(Err(error)) => {
                    this.filter.cut(&mut this.ready);
                    this.state = State::Failed(error);
                }
                None => {
                    this.filter.cut(&mut this.ready);
                    this.state = State::Ended;
                }
            }
        }
    }
}
