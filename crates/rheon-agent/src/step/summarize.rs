//! Summaries of old messages, written by the model in a separate call that is paid for like any other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use rheon_types::{
    AgentMessage, BoxFuture, Budget, Chunk, Content, Draft, DraftOutcome, Grant, History, Message, MicroUsd,
    ModelInfo, PlannedCall, Prices, Provider, ProviderError, ProviderErrorKind, Request, Reservation,
    StopReason, ThinkingLevel, Usage,
};
use tokio_util::sync::CancellationToken;

use crate::context::{ContextTracker, Summarizer, TokenCounter, summary_prompt, transcript};
use crate::live::Run;
use crate::step::assemble::assemble;

/// The maximum length of a summary.
const SUMMARY_TOKENS_MAX: u32 = 4_096;
/// The maximum length including thinking.
const THOUGHT_TOKENS_MAX: u32 = 16_384;
/// The share of the window for an answer: one in so many.
const ANSWER_SHARE: u64 = 5;

/// Calls the run's model for summaries and counts their usage.
pub(crate) struct RunSummarizer {
    provider: Arc<dyn Provider>,
    model: Arc<str>,
    info: Option<Arc<ModelInfo>>,
    budget: Option<Arc<dyn Budget>>,
    window_tokens: u64,
    /// The run's current request. The prompt for a summary is appended to the same prefix, which the service has
    /// cached, so that a full window is not processed and paid for again.
    turn: Request,
    counter: TokenCounter,
    tracker: ContextTracker,
    cancel: CancellationToken,
    spent: Mutex<SummaryCost>,
}

/// The usage of summaries.
#[derive(Debug, Clone, Default)]
pub(crate) struct SummaryCost {
    /// As reported or estimated.
    pub(crate) usage: Usage,
    /// `None` if a price is unknown or no call was made.
    pub(crate) cost: Option<MicroUsd>,
    /// Why the last summary that was asked for does not exist.
    pub(crate) problem: Option<String>,
}

impl RunSummarizer {
    pub(crate) fn new(run: &Run) -> Self {
        let model = Arc::clone(&run.config.settings.model);
        Self {
            info: run.config.provider.describe(&model),
            provider: Arc::clone(&run.config.provider),
            model,
            budget: run.config.budget.clone(),
            window_tokens: run.window_tokens(),
            turn: Request { reminder: None, ..assemble(run) },
            counter: run.meter.counter(),
            tracker: run.meter.tracker().clone(),
            cancel: run.stop.token().child_token(),
            spent: Mutex::default(),
        }
    }

    /// The usage of all summaries.
    pub(crate) fn spent(&self) -> SummaryCost {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, SummaryCost> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, request: Request) -> Result<String, ProviderError> {
        let prompt_tokens = self.tracker.tokens_of_new_text(self.counter.request(&request));
        let planned = PlannedCall {
            prompt_tokens,
            answer_tokens_max: request.tokens_max.unwrap_or(SUMMARY_TOKENS_MAX),
            prices: self.prices(),
            ..PlannedCall::default()
        };
        let reservation = match self.budget.as_ref().map(|budget| budget.reserve(&planned)) {
            None => None,
            Some(Grant::Call { reservation, is_last: false, .. }) => Some(reservation),
            Some(Grant::Call { is_last: true, .. } | Grant::Nothing | Grant::NoPrice) => {
                return Err(ProviderError::new(
                    ProviderErrorKind::Cancelled,
                    "the budget cannot pay for a summary",
                ));
            }
        };
        let mut draft = Draft::default();
        let outcome = self.collect(request, &mut draft).await;
        let mut finished = draft.finish(StopReason::Error);
        if finished.usage.total() == 0 && !finished.content.is_empty() {
            // Estimate the usage if the service reports none.
            let written = self.written(&finished.content);
            finished.usage = Usage { input: prompt_tokens, output: written, ..Usage::default() };
        }
        self.book(&finished, reservation);
        outcome?;
        let texts = finished.content.iter().filter_map(|block| match block {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => None,
        });
        Ok(texts.collect::<Vec<_>>().join("\n"))
    }

    /// Asks with the conversation itself, or with a transcript of it if that is too long.
    async fn ask_for(&self, messages: &History, prompt: &str) -> Result<String, ProviderError> {
        if let Some(request) = self.appended(messages, prompt) {
            match self.ask(request).await {
                Err(error) if error.kind == ProviderErrorKind::ContextOverflow => {}
                answered @ (Ok(_) | Err(_)) => return answered,
            }
        }
        self.ask(self.transcribed(messages, prompt)).await
    }

    fn prices(&self) -> Option<Prices> {
        self.info.as_ref().and_then(|info| info.prices)
    }

    /// Adds what a call took. A call that brought nothing and reports nothing costs nothing.
    fn book(&self, finished: &DraftOutcome, reservation: Option<Reservation>) {
        let is_free = finished.usage.total() == 0;
        let cost =
            if is_free { Some(MicroUsd::default()) } else { self.provider.cost(&self.model, finished) };
        if let Some(reservation) = reservation {
            let percent = Prices::cache_read_percent(self.prices().as_ref());
            reservation.settle(finished.usage.billed(percent), cost);
        }
        if is_free {
            return;
        }
        let mut spent = self.lock();
        spent.usage += finished.usage;
        spent.cost =
            Some(spent.cost.unwrap_or_default()).zip(cost).and_then(|(sum, cost)| sum.checked_add(cost));
    }

    fn written(&self, content: &[Content]) -> u64 {
        self.tracker.tokens_of_new_text(content.iter().map(|block| self.counter.block(block)).sum())
    }

    async fn collect(&self, request: Request, draft: &mut Draft) -> Result<(), ProviderError> {
        let broken = |error: rheon_types::DraftError| {
            ProviderError::new(ProviderErrorKind::Malformed, error.to_string())
        };
        let mut stream = self.provider.stream(request, self.cancel.clone());
        loop {
            let next = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    return Err(ProviderError::new(ProviderErrorKind::Cancelled, "the run was stopped"));
                }
                next = stream.next() => next,
            };
            let Some(chunk) = next else {
                return Err(ProviderError::new(ProviderErrorKind::Network, "the summary was cut off"));
            };
            let chunk = chunk?;
            draft.push(&chunk).map_err(broken)?;
            if let Chunk::Done { .. } = chunk {
                return Ok(());
            }
        }
    }

    /// Appends the prompt to the conversation itself, if it starts with `messages`.
    fn appended(&self, messages: &History, prompt: &str) -> Option<Request> {
        let visible = &self.turn.messages;
        let is_same =
            |(one, other): (&Arc<AgentMessage>, &Arc<AgentMessage>)| Arc::ptr_eq(one, other) || one == other;
        if messages.is_empty()
            || messages.len() > visible.len()
            || !messages.iter().zip(visible.iter()).all(is_same)
        {
            return None;
        }
        let longest = match self.turn.thinking {
            ThinkingLevel::Off => SUMMARY_TOKENS_MAX,
            ThinkingLevel::Minimal
            | ThinkingLevel::Low
            | ThinkingLevel::Medium
            | ThinkingLevel::High
            | ThinkingLevel::Max => THOUGHT_TOKENS_MAX,
        };
        let room = u32::try_from(self.window_tokens / ANSWER_SHARE).unwrap_or(u32::MAX);
        // The prompt is a message like any other: a provider that sends only the messages must not be answered with the
        // agent's next words instead of a summary.
        let mut asked: History = visible.iter().take(messages.len()).cloned().collect();
        asked.push(note(prompt.to_owned()));
        Some(Request {
            messages: asked,
            reminder: None,
            tokens_max: Some(longest.min(room.max(1))),
            output_schema: None,
            ..self.turn.clone()
        })
    }

    /// Puts the shortened conversation into one message, for when the conversation itself does not fit.
    fn transcribed(&self, messages: &History, prompt: &str) -> Request {
        // Two thirds of the window, at three bytes per token, leave space for the answer in any script.
        let bytes_max = usize::try_from(self.window_tokens.saturating_mul(2)).unwrap_or(usize::MAX);
        let text = format!("The conversation:\n{}\n\n{prompt}", transcript(messages, bytes_max));
        let mut request = Request::new(Arc::clone(&self.model));
        request.messages = std::iter::once(note(text)).collect();
        request.tokens_max = Some(SUMMARY_TOKENS_MAX);
        request
    }
}

fn note(text: String) -> Arc<AgentMessage> {
    Arc::new(Message::note(text, rheon_types::Timestamp::default()).into())
}

impl Summarizer for RunSummarizer {
    fn summarize<'a>(
        &'a self,
        messages: &'a History,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ProviderError>> {
        let prompt = summary_prompt(instructions.filter(|text| !text.trim().is_empty()));
        Box::pin(async move {
            let answered = self.ask_for(messages, &prompt).await;
            self.lock().problem = match &answered {
                Ok(text) if text.trim().is_empty() => Some("its answer has no text".to_owned()),
                Ok(_) => None,
                Err(error) => Some(error.to_string()),
            };
            answered
        })
    }
}
