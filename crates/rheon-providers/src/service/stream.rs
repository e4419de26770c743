//! A response as a stream. Nothing is sent before it is polled, and nothing outlives it, except that the last bytes of
//! a complete response are read so that its connection can be reused.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rheon_types::{
    Chunk, ChunkStream, ProviderError, ProviderErrorKind, Request, StopReason, ToolDefinition, Usage,
};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::body::{self, Form};
use super::exchange::accept;
use super::optional_fields::refused_fields;
use super::refused::Refused;
use super::shared::Shared;
use crate::compat::ToolStyle;
use crate::error::{is_error_body, malformed, shorten};
use crate::frame::{FRAME_BYTES_MAX, too_large};
use crate::prompted::calls_in;
use crate::tool_name::RewrittenNames;
use crate::transport::HttpResponse;
use crate::wire::{ResponseReader, failed_generation};

/// How much and how long to read after the end of a response, so that its connection can be reused.
const DRAIN_BYTES_MAX: usize = 64 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the end of a response is delayed for the last bytes, which usually arrive with it.
const DRAIN_DELAY: Duration = Duration::from_millis(10);

/// The response to `request`.
pub(super) fn open(shared: Arc<Shared>, request: Request, cancel: CancellationToken) -> ChunkStream {
    let calls = if expects_calls(&shared, &request) { Calls::Missing } else { Calls::Optional };
    let answer = ResponseState {
        shared,
        calls,
        tools: Arc::clone(&request.tools),
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

/// Whether calls come as calls. Those that a model writes as text are found later.
fn expects_calls(shared: &Shared, request: &Request) -> bool {
    let style = (shared.models)(&request.model).tool_style.unwrap_or(shared.endpoint.compat.tools);
    style == ToolStyle::Native && !request.tools.is_empty()
}

/// The state of a response.
struct ResponseState {
    shared: Arc<Shared>,
    calls: Calls,
    /// The tools that the model may call.
    tools: Arc<[ToolDefinition]>,
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

/// Whether a response that stops for tools must have called one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// Yes, but none has come yet.
    Missing,
    /// One came, or the calls may be in the text.
    Optional,
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
    /// What the user should know about how the request was sent.
    notices: Vec<String>,
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
                if self.lacks_call(&chunk) {
                    return Some(Err(
                        self.end(malformed("the model stopped to call a tool, but no call came"))
                    ));
                }
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

    /// Whether `chunk` ends the response for a call that never came. Taken for an answer, it would end the run.
    fn lacks_call(&mut self, chunk: &Chunk) -> bool {
        match chunk {
            Chunk::ToolCallStart { .. } | Chunk::Block { .. } => self.calls = Calls::Optional,
            Chunk::Done { stop_reason: StopReason::ToolUse } => return self.calls == Calls::Missing,
            Chunk::Done { .. }
            | Chunk::Model { .. }
            | Chunk::Provider { .. }
            | Chunk::Text { .. }
            | Chunk::Thinking { .. }
            | Chunk::Signature { .. }
            | Chunk::ToolCallDelta { .. }
            | Chunk::ToolCallEnd { .. }
            | Chunk::Notice { .. }
            | Chunk::Usage { .. } => {}
        }
        false
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
            | Chunk::Notice { .. }
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
                let (sent, size) = tokio::join!(send_request(&self.shared, request), counted);
                self.size = size;
                match sent {
                    Ok(mut reading) => {
                        let notices = reading.notices.drain(..);
                        self.chunks.extend(notices.map(|message| Chunk::Notice { message }));
                        self.phase = Phase::ReadState(Box::new(reading));
                        Ok(())
                    }
                    Err(Refused { error, body, .. }) => self.recover(failed_generation(&body), error),
                }
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
                    Ok(Err(error)) => {
                        let failed = reading.reader.as_mut().and_then(ResponseReader::failed_generation);
                        self.recover(failed, error)
                    }
                    Err(_) => Err(no_progress(limit)),
                }
            }
            Phase::Finished => Ok(()),
        }
    }
}

impl ResponseState {
    /// Makes calls of what the model wrote, if the service refused it only for its form.
    fn recover(&mut self, failed: Option<String>, error: ProviderError) -> Result<(), ProviderError> {
        let Some(text) = failed else { return Err(error) };
        let Some(calls) = calls_in(&text, &self.tools) else {
            let message = format!("{error} The model wrote: {}", shorten(&text));
            return Err(ProviderError { message, ..error });
        };
        for (call, index) in calls.into_iter().zip(FIRST_RECOVERED..) {
            let delta = call.arguments.into();
            self.chunks.extend([
                Chunk::ToolCallStart { index, id: "".into(), name: call.name },
                Chunk::ToolCallDelta { index, delta },
                Chunk::ToolCallEnd { index },
            ]);
        }
        self.chunks.push_back(Chunk::Done { stop_reason: StopReason::ToolUse });
        self.phase = Phase::Finished;
        Ok(())
    }
}

/// The index of the first recovered call: higher than those of calls that came before.
const FIRST_RECOVERED: u32 = 1 << 20;

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

/// How often a request is sent again without a field that the model refuses.
const OMISSIONS_MAX: usize = 3;

/// Sends the request. If the service refuses a field that the model can do without, it is sent again without it; what
/// helped is remembered for the model, and a notice says so.
async fn send_request(shared: &Shared, request: &Request) -> Result<ReadState, Refused> {
    let endpoint = &shared.endpoint;
    let mut omitted = shared.refused_fields.of(&request.model);
    let mut body = shared.encode_without(request, &omitted)?;
    let mut notices = Vec::new();
    loop {
        let sent = shared.http_request(&endpoint.url, &request.model, body.clone(), accept(endpoint.wire))?;
        let refused = match shared.exchange(&sent).await {
            Ok(response) => {
                if !notices.is_empty() {
                    shared.refused_fields.remember(&request.model, omitted);
                }
                let form = body::form(endpoint.wire, response.content_type().as_deref())?;
                let origin = shared.origin(request);
                return Ok(ReadState { response, form, reader: None, origin, notices });
            }
            Err(refused) => refused,
        };
        let mut shorter = None;
        for field in refused_fields(&refused, &omitted) {
            let fewer = omitted.iter().copied().chain([field]).collect();
            let without = shared.encode_without(request, &fewer)?;
            if without != body {
                shorter = Some((fewer, without));
                break;
            }
        }
        match shorter {
            Some((fewer, without)) if notices.len() < OMISSIONS_MAX => {
                (omitted, body) = (fewer, without);
                notices.push(format!(
                    "{} refused a part of the request, which is left out from now on ({})",
                    request.model, refused.error
                ));
            }
            Some(_) | None => return Err(refused),
        }
    }
}

enum Step {
    More,
    End,
}

impl ReadState {
    async fn step(&mut self, shared: &Shared, chunks: &mut VecDeque<Chunk>) -> Result<Step, ProviderError> {
        let wire = shared.endpoint.wire;
        let Some(bytes) = self.response.chunk().await? else {
            if let Some(reader) = &mut self.reader {
                reader.finish(chunks)?;
            }
            return Ok(Step::End);
        };
        if self.reader.is_none() {
            self.form = body::really(self.form, &bytes);
        }
        let framing = match self.form {
            Form::Frames(framing) => framing,
            Form::Json => return self.whole(shared, bytes, chunks).await,
        };
        let reader =
            self.reader.get_or_insert_with(|| ResponseReader::new(wire, framing, Arc::clone(&self.origin)));
        reader.feed(&bytes, chunks)?;
        Ok(Step::More)
    }

    /// Reads a body that is JSON: an error, or a response that was not streamed.
    async fn whole(
        &mut self,
        shared: &Shared,
        start: Bytes,
        chunks: &mut VecDeque<Chunk>,
    ) -> Result<Step, ProviderError> {
        let body = self.response.read_to_end(start, FRAME_BYTES_MAX).await?;
        if body.is_truncated {
            return Err(too_large());
        }
        if serde_json::from_slice::<Value>(&body.bytes).is_ok_and(|json| is_error_body(&json)) {
            return Err(shared.classify(self.response.status(), self.response.headers(), &body.bytes));
        }
        let wire = shared.endpoint.wire;
        let mut reader = ResponseReader::new(wire, wire.framing(), Arc::clone(&self.origin));
        reader.feed_json(&String::from_utf8_lossy(&body.bytes), chunks)?;
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
