//! The recorded model: answers, failures, prices.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{iter, once, pending};
use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentEvent, Answer, AssistantMessage, Chunk, ChunkStream, ContextEvent, DraftOutcome, HookPoint,
    MessageEvent, MicroUsd, ModelEvent, Provider, ProviderError, ProviderErrorKind, Request, RunEnd,
    RunFailure, StopReason, Usage,
};
use tokio_util::sync::CancellationToken;

use super::director::{Director, ScriptPosition};

/// Answers as the recorded model did.
pub(super) struct RecordedModel {
    pub(super) director: Arc<Director>,
    pub(super) id: String,
}

/// The outcome of one attempt of a model call.
enum Try {
    /// An answer or a part of it was shown.
    Seen(Box<AssistantMessage>, Ending),
    /// It failed before anything was shown.
    Unseen(ProviderError),
}

/// How the answer of a try ended.
enum Ending {
    Done,
    Failed(ProviderError),
    StopCause,
    /// The end is not in the log.
    Unknown,
}

impl RecordedModel {
    /// The attempt that starts before the event at `place`.
    fn attempt(&self, place: usize) -> Option<Try> {
        let script = &self.director.script;
        let mut begun = None;
        for at in place..script.recorded.produced {
            match script.kind(at)? {
                AgentEvent::Message(MessageEvent::Start { message }) => begun = message.as_assistant(),
                AgentEvent::Context(ContextEvent::CompactionStart {
                    trigger: CompactionTrigger::Overflow,
                    ..
                }) => {
                    return Some(Try::Unseen(too_long(None)));
                }
                AgentEvent::Model(ModelEvent::Retry { delay_ms, cause, .. }) => {
                    return Some(Try::Unseen(again(cause, *delay_ms)));
                }
                AgentEvent::Message(MessageEvent::End { message }) => {
                    let answer = message.as_assistant()?.clone();
                    if answer.stop_reason == StopReason::Aborted && self.is_compaction_vetoed() {
                        return Some(Try::Unseen(too_long(None)));
                    }
                    let ending = match answer.stop_reason {
                        StopReason::Stop | StopReason::ToolUse | StopReason::Length => Ending::Done,
                        StopReason::Aborted => Ending::StopCause,
                        StopReason::Error => Ending::Failed(match script.kind(at + 1) {
                            Some(AgentEvent::Model(ModelEvent::Retry { delay_ms, cause, .. })) => {
                                again(cause, *delay_ms)
                            }
                            Some(AgentEvent::Context(ContextEvent::CompactionStart {
                                trigger: CompactionTrigger::Overflow,
                                ..
                            })) => too_long(answer.error_message.as_deref()),
                            Some(_) | None => self.last_error(&answer),
                        }),
                    };
                    return Some(Try::Seen(Box::new(answer), ending));
                }
                _ => {}
            }
        }
        begun.map(|answer| Try::Seen(Box::new(answer.clone()), Ending::Unknown))
    }

    /// Whether a hook's veto of a compaction ended the run: the service had rejected the prompt as too long.
    fn is_compaction_vetoed(&self) -> bool {
        let end = self.director.script.recorded.end();
        matches!(end, Some(RunEnd::Vetoed { point: HookPoint::BeforeCompaction, .. }))
    }

    /// The error that ended the run, or one that is not retried if something else ended it.
    fn last_error(&self, answer: &AssistantMessage) -> ProviderError {
        match self.director.script.recorded.end() {
            Some(RunEnd::Failed { failure: RunFailure::Provider { error } }) => error.clone(),
            end => {
                let kind = match end {
                    Some(RunEnd::Failed { failure: RunFailure::Window { .. } }) => {
                        ProviderErrorKind::ContextOverflow
                    }
                    Some(_) if self.is_compaction_vetoed() => ProviderErrorKind::ContextOverflow,
                    Some(_) | None => ProviderErrorKind::Api,
                };
                ProviderError::new(kind, answer.error_message.clone().unwrap_or_default())
            }
        }
    }

    /// The tokens and price of the current model call, from its recorded end.
    fn call_end(&self, place: usize) -> Option<(Usage, Option<MicroUsd>)> {
        self.director.script.kinds_from(place).find_map(|kind| match kind {
            AgentEvent::Model(ModelEvent::End { usage, cost, .. }) => Some((*usage, *cost)),
            _ => None,
        })
    }

    /// Whether the answer that ends at `place` has no usage report.
    fn is_unreported(&self, place: usize) -> bool {
        match self.director.script.kind(place) {
            Some(AgentEvent::Message(MessageEvent::End { message })) => {
                message.as_assistant().is_some_and(|answer| answer.usage.total() == 0)
            }
            Some(_) | None => false,
        }
    }

    /// The estimated cost of the current call's attempts without a report, all returned with the first one.
    fn estimated_cost(&self, place: usize) -> Option<MicroUsd> {
        let cost = self.director.script.kinds_from(place).find_map(|kind| match kind {
            AgentEvent::Model(ModelEvent::End { estimated, .. }) => Some(*estimated),
            _ => None,
        })??;
        let is_returned = std::mem::replace(&mut self.director.state().is_estimate_returned, true);
        if is_returned { cost.cost.map(|_| MicroUsd::default()) } else { cost.cost }
    }

    /// The tokens of hidden attempts, all reported with the first one.
    fn hidden(&self, place: usize) -> Option<Usage> {
        let mut state = self.director.state();
        if std::mem::replace(&mut state.is_hidden_returned, true) {
            return None;
        }
        drop(state);
        let script = &self.director.script;
        let (mut left, _) = self.call_end(place)?;
        let begin = (0..place)
            .rev()
            .find(|at| matches!(script.kind(*at), Some(AgentEvent::Model(ModelEvent::Start { .. }))))?;
        let call = script
            .kinds_from(begin)
            .take_while(|kind| !matches!(kind, AgentEvent::Model(ModelEvent::End { .. })));
        for kind in call {
            if let AgentEvent::Message(MessageEvent::End { message }) = kind
                && let Some(answer) = message.as_assistant()
            {
                left = without(left, answer.usage);
            }
        }
        (left.total() > 0).then_some(left)
    }

    fn chunks(&self, attempt: Try, place: usize, model: &str) -> ChunkStream {
        match attempt {
            Try::Unseen(error) => {
                let usage = self.hidden(place).map(|usage| Ok(Chunk::Usage { usage }));
                Box::pin(iter(usage.into_iter().chain([Err(error)])))
            }
            Try::Seen(answer, ending) => {
                let chunks = iter(answer_chunks(&answer, model, &self.id).into_iter().map(Ok));
                match ending {
                    Ending::Done => {
                        let stop_reason = answer.stop_reason;
                        Box::pin(chunks.chain(once(async move { Ok(Chunk::Done { stop_reason }) })))
                    }
                    Ending::Failed(error) => Box::pin(chunks.chain(once(async move { Err(error) }))),
                    Ending::Unknown => Box::pin(chunks.chain(pending())),
                    Ending::StopCause => {
                        let director = Arc::clone(&self.director);
                        let stopping = once(async move { stop(&director) }).filter_map(|()| async { None });
                        Box::pin(chunks.chain(stopping).chain(pending()))
                    }
                }
            }
        }
    }
}

/// Stops the run during an answer.
fn stop(director: &Director) {
    if let Some(stopped) = director.script.stopped() {
        director.stop_or_panic(stopped);
    }
}

/// The service rejected the prompt as too long.
fn too_long(words: Option<&str>) -> ProviderError {
    ProviderError::new(ProviderErrorKind::ContextOverflow, words.unwrap_or_default())
}

/// A failure that was retried after this delay.
fn again(cause: &str, delay_ms: u64) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, cause).with_retry_after_ms(delay_ms)
}

/// The chunks of an answer, without its end.
fn answer_chunks(answer: &AssistantMessage, model: &str, provider: &str) -> Vec<Chunk> {
    let mut chunks = Vec::with_capacity(answer.content.len() + 3);
    if answer.provider != provider {
        chunks.push(Chunk::Provider { provider: answer.provider.as_str().into() });
    }
    if answer.model != model {
        chunks.push(Chunk::Model { model: answer.model.clone() });
    }
    // The shown text of an answer may have been dropped; an empty chunk has the same effect.
    chunks.push(Chunk::Text { delta: Default::default() });
    chunks.extend(answer.content.iter().map(|block| Chunk::Block { block: Box::new(block.clone()) }));
    chunks.push(Chunk::Usage { usage: answer.usage });
    chunks
}

fn without(sum: Usage, part: Usage) -> Usage {
    Usage {
        input: sum.input.saturating_sub(part.input),
        output: sum.output.saturating_sub(part.output),
        cache_read: sum.cache_read.saturating_sub(part.cache_read),
        cache_write: sum.cache_write.saturating_sub(part.cache_write),
        total_tokens: sum.total().saturating_sub(part.total()),
    }
}

impl Provider for RecordedModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn stream(&self, request: Request, _cancel: CancellationToken) -> ChunkStream {
        let ScriptPosition::At(place) = self.director.reached() else { return Box::pin(pending()) };
        if let Some(AgentEvent::Context(ContextEvent::CompactionEnd { usage, .. })) =
            self.director.script.kind(place)
        {
            let done = Chunk::Done { stop_reason: StopReason::Stop };
            // The text is in the recorded cuts; without any, the loop would report that there is no summary.
            let text = Chunk::Text { delta: "recorded".into() };
            return Box::pin(iter([Ok(text), Ok(Chunk::Usage { usage: *usage }), Ok(done)]));
        }
        match self.attempt(place) {
            Some(attempt) => self.chunks(attempt, place, &request.model),
            None => Box::pin(pending()),
        }
    }

    /// The prompt size, from the next event that contains it.
    fn count_tokens<'a>(&'a self, _request: &'a Request) -> Answer<'a, Option<u64>> {
        let ScriptPosition::At(place) = self.director.reached() else { return Answer::Now(None) };
        Answer::Now(self.director.script.kinds_from(place).find_map(|kind| match kind {
            AgentEvent::Context(ContextEvent::Usage { tokens_used, .. }) => Some(*tokens_used),
            AgentEvent::Model(ModelEvent::Start { tokens_estimate, .. }) => Some(*tokens_estimate),
            AgentEvent::Context(ContextEvent::CompactionStart { tokens_before, .. }) => Some(*tokens_before),
            AgentEvent::Context(ContextEvent::CompactionEnd { tokens_after, .. }) => Some(*tokens_after),
            _ => None,
        }))
    }

    fn cost(&self, _requested: &str, _answered: &DraftOutcome) -> Option<MicroUsd> {
        let place = self.director.next();
        if let Some(AgentEvent::Context(ContextEvent::CompactionEnd { cost, .. })) =
            self.director.script.kind(place)
        {
            return *cost;
        }
        if self.is_unreported(place) {
            return self.estimated_cost(place);
        }
        let (_, cost) = self.call_end(place)?;
        let is_returned = std::mem::replace(&mut self.director.state().is_cost_returned, true);
        if is_returned { cost.map(|_| MicroUsd::default()) } else { cost }
    }
}
