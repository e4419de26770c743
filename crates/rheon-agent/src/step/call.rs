//! Step 3: calls the model. Streams its answer into the log, retries where that may help and stops immediately on
//! request.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use rheon_types::event::{BudgetAmount, Notice, NoticeTopic};
use rheon_types::{
    AgentEvent, AssistantMessage, Chunk, ChunkStream, Content, DraftError, DraftOutcome, Message,
    MessageEvent, ModelEvent, ProviderError, ProviderErrorKind, Request, RunFailure, SessionEvent,
    StopReason, Timestamp, ToolCall, ToolCallId, Usage,
};
use tokio::task::coop::consume_budget;

use crate::clock::{self, millis};
use crate::halt::Halt;
use crate::live::Run;
use crate::reservation::{NOTHING, sum};
use crate::state::{OpenCall, OpenModelCall};

/// Starts a model call.
pub(crate) fn begin(run: &mut Run, request: &Request) {
    run.emit(AgentEvent::Model(ModelEvent::Start {
        model: Arc::clone(&request.model),
        tokens_estimate: run.meter.tokens(),
        reserved: run.reserved(),
    }));
    run.turn().model_call = Some(OpenModelCall { started_ms: run.clock_ms(), ..OpenModelCall::default() });
}

/// Ends a model call that was answered at this attempt. The answer is now part of the conversation.
pub(crate) fn end(run: &mut Run, attempt: u32) {
    end_message(run, StopReason::Error, None);
    if attempt > 1 {
        run.emit(AgentEvent::Model(ModelEvent::Recovered { attempts: attempt }));
    }
    end_call(run);
}

/// One attempt. The inner error is the provider's and may be worth a retry.
pub(crate) async fn attempt(run: &mut Run, request: Request) -> Result<Result<(), ProviderError>, Halt> {
    let token = run.stop.token().clone();
    // The provider may cancel its own token, for example to clean up after a dropped stream.
    let mut stream = run.config.provider.stream(request, token.child_token());
    let mut cancelled = pin!(token.cancelled());
    loop {
        run.ready().await?;
        if token.is_cancelled() {
            return Err(run.stop.halt());
        }
        // Check the token only while the stream has no data.
        let next = tokio::select! {
            biased;
            next = next_chunk(&mut stream) => next,
            () = &mut cancelled => return Err(run.stop.halt()),
        };
        let chunk = match next {
            Some(Ok(chunk)) => chunk,
            Some(Err(_)) if token.is_cancelled() => return Err(run.stop.halt()),
            Some(Err(error)) => return Ok(Err(error)),
            None => return Ok(Err(cut_error())),
        };
        if let Err(error) = take_chunk(run, chunk) {
            return Ok(Err(error));
        }
        if run.turn().model_call.as_ref().is_some_and(|call| call.draft.is_done()) {
            return Ok(Ok(()));
        }
        // A stream that is always ready must not monopolize its thread.
        consume_budget().await;
    }
}

async fn next_chunk(stream: &mut ChunkStream) -> Option<Result<Chunk, ProviderError>> {
    poll_fn(|context| stream.as_mut().poll_next(context)).await
}

fn cut_error() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, "the answer was cut off before it was complete")
}

/// Adds one chunk to the draft and emits it.
fn take_chunk(run: &mut Run, chunk: Chunk) -> Result<(), ProviderError> {
    let visible = match &chunk {
        Chunk::Text { .. } | Chunk::Thinking { .. } | Chunk::Signature { .. } => true,
        Chunk::ToolCallStart { .. } | Chunk::ToolCallDelta { .. } | Chunk::ToolCallEnd { .. } => true,
        Chunk::Block { .. } => true,
        Chunk::Model { .. } | Chunk::Provider { .. } | Chunk::Notice { .. } => false,
        Chunk::Usage { .. } | Chunk::Done { .. } => false,
    };
    if visible {
        announce(run);
    }
    if let Chunk::Done { stop_reason: StopReason::Error | StopReason::Aborted } = &chunk {
        return Err(ProviderError::new(ProviderErrorKind::Api, "the service ended its answer with an error"));
    }
    let chunk = with_unique_id(run, chunk);
    let Some(call) = &mut run.turn().model_call else { return Ok(()) };
    call.draft.push(&chunk).map_err(|error| match error {
        DraftError::TooLarge => ProviderError::new(ProviderErrorKind::Api, error.to_string()),
        DraftError::CallNotOpen(_) | DraftError::CallOpenTwice(_) => {
            ProviderError::new(ProviderErrorKind::Malformed, error.to_string())
        }
    })?;
    let event = match chunk {
        Chunk::Text { delta } => AgentEvent::Message(MessageEvent::TextDelta { delta }),
        Chunk::Thinking { delta } => AgentEvent::Message(MessageEvent::ThinkingDelta { delta }),
        Chunk::ToolCallStart { id, name, .. } => {
            AgentEvent::Message(MessageEvent::ToolCallDelta { call_id: id, name, delta: Default::default() })
        }
        Chunk::ToolCallDelta { index, delta } => match call.draft.call(index) {
            Some((id, name)) => AgentEvent::Message(MessageEvent::ToolCallDelta {
                call_id: id.clone(),
                name: name.clone(),
                delta,
            }),
            None => return Ok(()),
        },
        Chunk::Block { block } => match live_event(*block) {
            Some(event) => event,
            None => return Ok(()),
        },
        Chunk::Notice { message } => {
            let notice = Arc::new(Notice::warning(NoticeTopic::Model, message));
            AgentEvent::Session(SessionEvent::Notice { notice })
        }
        Chunk::Signature { .. }
        | Chunk::ToolCallEnd { .. }
        | Chunk::Model { .. }
        | Chunk::Provider { .. }
        | Chunk::Usage { .. }
        | Chunk::Done { .. } => return Ok(()),
    };
    run.emit(event);
    Ok(())
}

/// The live event for a whole block.
fn live_event(block: Content) -> Option<AgentEvent> {
    match block {
        Content::Text { text } => Some(AgentEvent::Message(MessageEvent::TextDelta { delta: text.into() })),
        Content::Thinking { thinking, .. } => {
            Some(AgentEvent::Message(MessageEvent::ThinkingDelta { delta: thinking.into() }))
        }
        Content::ToolCall(ToolCall { id, name, arguments, .. }) => {
            Some(AgentEvent::Message(MessageEvent::ToolCallDelta {
                call_id: id,
                name,
                delta: arguments.to_string().into(),
            }))
        }
        Content::Image { .. } => None,
    }
}

/// The chunk with a tool call id that is unique in the conversation.
fn with_unique_id(run: &mut Run, chunk: Chunk) -> Chunk {
    match chunk {
        Chunk::ToolCallStart { index, id, name } => {
            Chunk::ToolCallStart { index, id: unique_id(run, id), name }
        }
        Chunk::Block { mut block } => {
            if let Content::ToolCall(call) = &mut *block {
                call.id = unique_id(run, call.id.clone());
            }
            Chunk::Block { block }
        }
        Chunk::Text { .. } | Chunk::Thinking { .. } | Chunk::Signature { .. } => chunk,
        Chunk::ToolCallDelta { .. } | Chunk::ToolCallEnd { .. } => chunk,
        Chunk::Model { .. } | Chunk::Provider { .. } | Chunk::Notice { .. } => chunk,
        Chunk::Usage { .. } | Chunk::Done { .. } => chunk,
    }
}

fn unique_id(run: &mut Run, id: ToolCallId) -> ToolCallId {
    let turn = run.turn().index;
    let nth = run.turn().model_call.as_ref().map_or(0, |call| call.call_ids.len());
    let requested = if id.as_str().is_empty() { format!("call_{turn}_{nth}").into() } else { id };
    let id = run.state.call_ids.take(requested);
    if let Some(call) = &mut run.turn().model_call {
        call.call_ids.push(id.clone());
    }
    id
}

/// Emits `message.start` for the answer, once.
fn announce(run: &mut Run) {
    if run.turn().model_call.as_ref().is_none_or(|call| call.announced.is_some()) {
        return;
    }
    let now_ms = run.clock_ms();
    let now = run.now();
    let announced = run.tag(Message::Assistant(empty_answer(run, now)));
    run.log.emit_at(now, AgentEvent::Message(MessageEvent::Start { message: Arc::clone(&announced) }));
    if let Some(call) = &mut run.turn().model_call {
        call.first_token_ms.get_or_insert(now_ms);
        call.announced = Some(announced);
    }
}

fn empty_answer(run: &Run, timestamp: Timestamp) -> AssistantMessage {
    AssistantMessage {
        content: Vec::new(),
        stop_reason: StopReason::Stop,
        model: run.config.settings.model.to_string(),
        provider: run.config.provider.id().to_owned(),
        usage: Usage::default(),
        timestamp,
        error_message: None,
    }
}

/// Waits before the next attempt, or fails if there is none.
pub(crate) async fn pause(run: &mut Run, error: ProviderError, attempt: u32) -> Result<(), Halt> {
    let retry = run.config.settings.retry;
    let Some(delay) = retry.pause_after(&error, attempt, run.config.random.next_u64()) else {
        let failure = RunFailure::Provider { error: error.clone() };
        return Err(fail(run, &error, failure));
    };
    fail_attempt(run, &error);
    run.emit(AgentEvent::Model(ModelEvent::Retry {
        attempt,
        attempts_max: retry.retries_max,
        delay_ms: millis(delay),
        cause: error.to_string(),
    }));
    run.stop.or(clock::pause(&*run.config.clock, delay)).await
}

/// Ends a failed call.
pub(crate) fn fail(run: &mut Run, error: &ProviderError, failure: RunFailure) -> Halt {
    end_message(run, StopReason::Error, Some(error.to_string()));
    end_call(run);
    Halt::Failed(failure)
}

/// Ends a failed attempt: text already shown is kept and marked as failed, and its usage counts.
pub(crate) fn fail_attempt(run: &mut Run, error: &ProviderError) {
    match &mut run.turn().model_call {
        Some(OpenModelCall { announced: Some(_), .. }) => {
            end_message(run, StopReason::Error, Some(error.to_string()));
        }
        Some(call) => {
            // Nothing of this attempt was shown, but its cost counts.
            let finished = std::mem::take(&mut call.draft).finish(StopReason::Error);
            if finished.usage.total() > 0 {
                count(run, &finished);
            }
        }
        None => {}
    }
    release_ids(run);
    // The next attempt needs its own reservation.
    run.settle_reservation();
}

/// The calls of a failed answer never run, so the next attempt may reuse their ids.
fn release_ids(run: &mut Run) {
    let ids =
        run.turn().model_call.as_mut().map(|call| std::mem::take(&mut call.call_ids)).unwrap_or_default();
    for id in ids {
        run.state.call_ids.release(&id);
    }
}

/// Adds the usage of one attempt: as reported, or else estimated from what came.
fn count(run: &mut Run, finished: &DraftOutcome) {
    let usage = finished.usage;
    if usage.total() == 0 {
        return count_unreported(run, finished);
    }
    let cost = run.config.provider.cost(&run.config.settings.model, finished);
    run.turn().bill.add(cost);
    run.state.bill.add(cost);
    run.turn().usage += usage;
    run.state.usage += usage;
    let tokens = run.billed_tokens(&usage);
    run.charge(BudgetAmount { tokens, cost });
}

/// Adds an attempt without a usage report. One that brought nothing costs nothing: the service refused it, or it was
/// stopped before it began. The cost of another is uncertain, but only its own.
fn count_unreported(run: &mut Run, finished: &DraftOutcome) {
    let is_older_log = run.cache_read_percent().is_none();
    let estimate = if finished.content.is_empty() && !is_older_log {
        NOTHING
    } else {
        let usage = run.meter.likely_usage(&finished.content);
        let likely = DraftOutcome { usage, ..finished.clone() };
        let cost = run.config.provider.cost(&run.config.settings.model, &likely);
        run.turn().bill.add(None);
        run.state.bill.add(None);
        BudgetAmount { tokens: run.billed_tokens(&usage), cost }
    };
    if let Some(call) = run.turn().model_call.as_mut().filter(|_| !is_older_log) {
        call.estimated = Some(sum(call.estimated.unwrap_or(NOTHING), estimate));
    }
    run.charge(estimate);
}

/// Emits `message.end` with the stream's stop reason, or with `cut` if the stream did not finish.
pub(crate) fn end_message(run: &mut Run, cut: StopReason, problem: Option<String>) {
    announce(run);
    let Some(call) = &mut run.turn().model_call else { return };
    let finished = std::mem::take(&mut call.draft).finish(cut);
    let Some(announced) = call.announced.take() else { return };
    // An answer with a problem did not end normally, even if its stream said so.
    let stop_reason = if problem.is_some() { cut } else { finished.stop_reason };
    let Some(mut answer) = announced.as_assistant().cloned() else { return };
    let finished = match stop_reason {
        StopReason::Error | StopReason::Aborted => finished,
        StopReason::Stop | StopReason::ToolUse | StopReason::Length => understood(run, finished),
    };
    count(run, &finished);
    answer.content = finished.content;
    answer.stop_reason = stop_reason;
    answer.usage = finished.usage;
    answer.error_message = problem;
    answer.model = finished.model.unwrap_or(answer.model);
    let is_own = finished.provider.is_none();
    if let Some(provider) = finished.provider {
        answer.provider = provider.to_string();
    }
    run.state.stops.last = Some(stop_reason);
    learn(run, &answer, is_own);
    if stop_reason != StopReason::Error {
        run.turn().calls = answer.tool_calls().map(|call| OpenCall::from(call.clone())).collect();
    }
    let message = run.tag(Message::Assistant(answer));
    run.turn().answer = Some(Arc::clone(&message));
    run.enter_announced(message);
}

/// The answer with calls as the tools take them. They enter the conversation like this, so the model sees how it should
/// have called.
fn understood(run: &Run, finished: DraftOutcome) -> DraftOutcome {
    let call = |block| match block {
        Content::ToolCall(call) => Content::ToolCall(run.offer.tools.understood(call)),
        Content::Text { .. } | Content::Thinking { .. } | Content::Image { .. } => block,
    };
    DraftOutcome { content: finished.content.into_iter().map(call).collect(), ..finished }
}

/// Records the usage the service reported for the prompt. An answer from another service is ignored.
fn learn(run: &mut Run, answer: &AssistantMessage, is_own: bool) {
    let is_whole = match answer.stop_reason {
        StopReason::Stop | StopReason::ToolUse | StopReason::Length => true,
        StopReason::Error | StopReason::Aborted => false,
    };
    if is_whole && is_own && answer.usage.total() > 0 {
        run.meter.reported(&answer.usage);
    }
}

/// Emits `llm.end`.
pub(crate) fn end_call(run: &mut Run) {
    let now_ms = run.clock_ms();
    run.settle_reservation();
    let (usage, cost) = (run.turn().usage, run.turn().bill.total());
    let Some(call) = run.turn().model_call.take() else { return };
    run.emit(AgentEvent::Model(ModelEvent::End {
        usage,
        stop_reason: run.state.stops.last.unwrap_or(StopReason::Error),
        cost,
        first_token_ms: call.first_token_ms.map(|first| first.saturating_sub(call.started_ms)),
        duration_ms: now_ms.saturating_sub(call.started_ms),
        estimated: call.estimated,
    }));
}
