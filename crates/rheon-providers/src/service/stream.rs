//! A response as a stream. Nothing is sent before it is polled, and nothing outlives it, except that the last bytes of
//! a complete response are read so that its connection can be reused.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rheon_types::{Chunk, ChunkStream, ProviderError, ProviderErrorKind, Request, Usage};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::body::{self, Form};
use super::exchange::accept;
use super::shared::Shared;
use crate::error::{is_error_body, malformed};
use crate::frame::{FRAME_BYTES_MAX, Framing, too_large};
use crate::tool_name::RewrittenNames;
use crate::transport::HttpResponse;
use crate::wire::ResponseReader;

/// How much and how long to read after the end of a response, so that its connection can be reused.
const DRAIN_BYTES_MAX: usize = 64 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the end of a response is delayed for the last bytes, which usually arrive with it.
const DRAIN_DELAY: Duration = Duration::from_millis(10);

/// The response to `request`.
pub(super) fn open(shared: Arc<Shared>, request: Request, cancel: CancellationToken) -> ChunkStream {
    let answer = ResponseState {
        shared,
        model: Arc::clone(&request.model),
        names: RewrittenNames::of(&request.tools),
        cancel,
        phase: Phase::Pending(Box::new(request)),
        chunks: VecDeque::new(),
        failure: None,
        usage: None,
        size: 0,
        last_progress: None,
    };
    // Boxed, so that moving it from item to item costs nothing.
    Box::pin(futures::stream::unfold(Box::new(answer), |mut answer| async move {
        let item = answer.next().await?;
        Some((item, answer))
    }))
}

/// The state of a response.
struct ResponseState {
    shared: Arc<Shared>,
    model: Arc<str>,
    /// Tools that the service knows by another name.
    names: RewrittenNames,
    cancel: CancellationToken,
    phase: Phase,
    /// Chunks that were read but not yet yielded.
    chunks: VecDeque<Chunk>,
    /// The error that ends the response after the chunks.
    failure: Option<ProviderError>,
    /// The last reported usage.
    usage: Option<Usage>,
    /// The prompt size to compare with the usage.
    size: u64,
    /// When the response last made progress, or when waiting started after that.
    last_progress: Option<Instant>,
}

enum Phase {
    /// Not sent yet.
    Pending(Box<Request>),
    /// Reading the body.
    ReadState(Box<ReadState>),
    /// Finished.
    Finished,
}

struct ReadState {
    response: HttpResponse,
    form: Form,
    reader: Option<ResponseReader>,
    origin: Arc<str>,
}

impl ResponseState {
    async fn next(&mut self) -> Option<Result<Chunk, ProviderError>> {
        loop {
            if self.is_over() {
                return None;
            }
            if self.cancel.is_cancelled() {
                return Some(Err(self.end(cancelled())));
            }
            if let Some(chunk) = self.chunks.pop_front() {
                self.note(&chunk).await;
                return Some(Ok(self.names.restore(chunk)));
            }
            if let Some(error) = self.failure.take() {
                let error = self.shared.redacted(error);
                return Some(Err(self.end(error)));
            }
            let cancel = self.cancel.clone();
            match cancel.run_until_cancelled(self.advance()).await {
                Some(Ok(())) => {}
                Some(Err(error)) => self.failure = Some(error),
                None => return Some(Err(self.end(cancelled()))),
            }
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Finished) && self.chunks.is_empty() && self.failure.is_none()
    }

    /// Closes the connection and drops everything that is pending.
    fn end(&mut self, error: ProviderError) -> ProviderError {
        self.phase = Phase::Finished;
        self.chunks.clear();
        self.failure = None;
        error
    }

    async fn note(&mut self, chunk: &Chunk) {
        self.last_progress = None;
        match chunk {
            Chunk::Usage { usage } => self.usage = Some(*usage),
            Chunk::Done { .. } => {
                if let Some(usage) = &self.usage {
                    self.shared.estimator.learn(&self.model, self.size, usage);
                }
                self.chunks.clear();
                self.failure = None;
                if let Phase::ReadState(reading) = std::mem::replace(&mut self.phase, Phase::Finished) {
                    drain(reading.response).await;
                }
            }
            Chunk::Model { .. }
            | Chunk::Provider { .. }
            | Chunk::Text { .. }
            | Chunk::Thinking { .. }
            | Chunk::Signature { .. }
            | Chunk::ToolCallStart { .. }
            | Chunk::ToolCallDelta { .. }
            | Chunk::ToolCallEnd { .. }
            | Chunk::Block { .. } => {}
        }
    }

    /// Performs the next asynchronous step.
    async fn advance(&mut self) -> Result<(), ProviderError> {
        match &mut self.phase {
            Phase::Pending(request) => {
                let counted = async {
                    // Counting a long conversation takes a while: send it first, and count while the service reads it.
                    tokio::task::yield_now().await;
                    self.shared.estimator.size(request)
                };
                let (reading, size) = tokio::join!(send_request(&self.shared, request), counted);
                self.size = size;
                self.phase = Phase::ReadState(Box::new(reading?));
                Ok(())
            }
            Phase::ReadState(reading) => {
                let limit = self.shared.transport.progress_timeout();
                let deadline = *self.last_progress.get_or_insert_with(Instant::now) + limit;
                let step = reading.step(&self.shared, &mut self.chunks);
                match timeout_at(deadline, step).await {
                    Ok(Ok(Step::More)) => Ok(()),
                    Ok(Ok(Step::End)) => {
                        self.phase = Phase::Finished;
                        Ok(())
                    }
                    Ok(Err(error)) => Err(error),
                    Err(_) => Err(no_progress(limit)),
                }
            }
            Phase::Finished => Ok(()),
        }
    }
}

/// Reads the remaining bytes after the end of a response, if they are few and arrive soon. If it takes longer, it
/// continues in a task: the caller already has the whole response.
async fn drain(mut response: HttpResponse) {
    if !response.holds_connection() {
        return;
    }
    let mut rest = Box::pin(async move {
        // Ignore the result: the response is complete, and an unread rest only costs the connection.
        drop(timeout(DRAIN_TIMEOUT, response.read_to_end(Bytes::new(), DRAIN_BYTES_MAX)).await);
    });
    if timeout(DRAIN_DELAY, &mut rest).await.is_err() {
        tokio::spawn(rest);
    }
}

async fn send_request(shared: &Shared, request: &Request) -> Result<ReadState, ProviderError> {
    let endpoint = &shared.endpoint;
    let body = shared.encode(request)?;
    let sent = shared.http_request(&endpoint.url, &request.model, body, accept(endpoint.wire))?;
    let response = shared.exchange(&sent).await?;
    let form = body::form(endpoint.wire, response.content_type().as_deref())?;
    Ok(ReadState { response, form, reader: None, origin: shared.origin(request) })
}

enum Step {
    More,
    End,
}

impl ReadState {
    async fn step(&mut self, shared: &Shared, chunks: &mut VecDeque<Chunk>) -> Result<Step, ProviderError> {
        let wire = shared.endpoint.wire;
        let framing = match self.form {
            Form::Frames(framing) => framing,
            Form::Json => return self.whole(shared, Bytes::new(), chunks).await,
        };
        let Some(bytes) = self.response.chunk().await? else {
            if let Some(reader) = &mut self.reader {
                reader.finish(chunks)?;
            }
            return Ok(Step::End);
        };
        if self.reader.is_none() && body::is_really_json(self.form, &bytes) {
            return self.whole(shared, bytes, chunks).await;
        }
        let reader =
            self.reader.get_or_insert_with(|| ResponseReader::new(wire, framing, Arc::clone(&self.origin)));
        reader.feed(&bytes, chunks)?;
        Ok(Step::More)
    }

    /// Reads a body that is one JSON value: an error, or a response that was not streamed.
    async fn whole(
        &mut self,
        shared: &Shared,
        start: Bytes,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<Step, ProviderError> {
        self.form = Form::Json;
        let body = self.response.read_to_end(start, FRAME_BYTES_MAX).await?;
        if body.is_truncated {
            return Err(too_large());
        }
        let json: Value = serde_json::from_slice(&body.bytes)
            .map_err(|problem| malformed(format_args!("invalid JSON: {problem}")))?;
        if is_error_body(&json) {
            return Err(shared.classify(self.response.status(), self.response.headers(), &body.bytes));
        }
        let wire = shared.endpoint.wire;
        let lines = body::as_lines(wire, &json)?;
        let mut reader = ResponseReader::new(wire, Framing::Lines, Arc::clone(&self.origin));
        reader.feed(&lines, chunks)?;
        reader.finish(chunks)?;
        Ok(Step::End)
    }
}

fn cancelled() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the call was canceled")
}

fn no_progress(limit: Duration) -> ProviderError {
    let message = format!("the response made no progress for {} s", limit.as_secs_f32());
    ProviderError::new(ProviderErrorKind::Timeout, message)
}
