//! `FallbackProvider`: another model answers when the wanted one has no capacity.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use rheon_types::{
    Answer, Chunk, ChunkStream, ModelInfo, Provider, ProviderError, ProviderErrorKind, Request,
};
use tokio_util::sync::CancellationToken;

/// Asks `wanted`; when it is overloaded before it has said anything, the same request goes to another model. The next
/// request asks `wanted` first again.
pub struct FallbackProvider {
    wanted: Arc<dyn Provider>,
    other: Arc<dyn Provider>,
    other_model: Arc<str>,
    stand_ins: Arc<StandIns>,
}

/// The names under which the other one answered last: both may have a model of one name, at prices of their own.
#[derive(Default)]
struct StandIns {
    names: Mutex<BTreeSet<String>>,
}

impl StandIns {
    /// More names than one service gives one model.
    const NAMES_MAX: usize = 64;

    fn answered_by_other(&self, model: &str) {
        let mut names = self.lock();
        if names.len() >= Self::NAMES_MAX {
            names.clear();
        }
        names.insert(model.to_owned());
    }

    fn answered_by_wanted(&self, model: &str) {
        self.lock().remove(model);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FallbackProvider {
    /// Asks `wanted`, and `other_model` of `other` where that is overloaded.
    pub fn new(
        wanted: Arc<dyn Provider>,
        other: Arc<dyn Provider>,
        other_model: impl Into<Arc<str>>,
    ) -> Self {
        Self { wanted, other, other_model: other_model.into(), stand_ins: Arc::default() }
    }
}

impl Provider for FallbackProvider {
    fn id(&self) -> &str {
        self.wanted.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        let next = Next {
            provider: Arc::clone(&self.other),
            request: Request { model: Arc::clone(&self.other_model), ..request.clone() },
            cancel: cancel.clone(),
        };
        let stream = self.wanted.stream(request, cancel);
        let stand_ins = Arc::clone(&self.stand_ins);
        Box::pin(Fallback { stream, speaker: Speaker::Wanted, next: Some(next), named: None, stand_ins })
    }

    /// The wanted provider knows its own models; the other one's is looked up there, as is one that the other answered as.
    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        if self.stand_ins.lock().contains(model) {
            return self.other.describe(model);
        }
        let wanted = self.wanted.describe(model).filter(|info| info.known);
        wanted.or_else(|| self.other.describe(model)).or_else(|| self.wanted.describe(model))
    }

    fn count_tokens<'a>(&'a self, request: &'a Request) -> Answer<'a, Option<u64>> {
        self.wanted.count_tokens(request)
    }
}

/// Where to go on when the wanted model is overloaded.
struct Next {
    provider: Arc<dyn Provider>,
    request: Request,
    cancel: CancellationToken,
}

/// Whose answer it is.
#[derive(Clone, Copy)]
enum Speaker {
    Wanted,
    Other,
}

struct Fallback {
    stream: ChunkStream,
    speaker: Speaker,
    /// Present until something was said.
    next: Option<Next>,
    /// The other model's name, still to be said: not every service tells it.
    named: Option<Arc<str>>,
    stand_ins: Arc<StandIns>,
}

impl Fallback {
    /// The name of the model that answers, remembered by who it is.
    fn model(&self, model: &str) -> Chunk {
        match self.speaker {
            Speaker::Wanted => self.stand_ins.answered_by_wanted(model),
            Speaker::Other => self.stand_ins.answered_by_other(model),
        }
        Chunk::Model { model: model.into() }
    }
}

impl Stream for Fallback {
    type Item = Result<Chunk, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(model) = this.named.take() {
            return Poll::Ready(Some(Ok(this.model(&model))));
        }
        let item = ready!(this.stream.as_mut().poll_next(context));
        match (&item, this.next.take()) {
            (Some(Err(error)), Some(next)) if error.kind == ProviderErrorKind::Overloaded => {
                let provider = next.provider.id().into();
                this.named = Some(Arc::clone(&next.request.model));
                this.speaker = Speaker::Other;
                this.stream = next.provider.stream(next.request, next.cancel);
                Poll::Ready(Some(Ok(Chunk::Provider { provider })))
            }
            (Some(Ok(Chunk::Model { model })), next) => {
                this.next = next;
                Poll::Ready(Some(Ok(this.model(model))))
            }
            (Some(Ok(Chunk::Usage { .. })), next) => {
                this.next = next;
                Poll::Ready(item)
            }
            (_, _) => Poll::Ready(item),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use rheon_types::{Prices, Rates, StopReason};

    use super::*;
    use crate::scripted::{Scenario, ScriptedProvider, Turn};

    async fn ask(wanted: Turn) -> (Vec<Result<Chunk, ProviderError>>, u64) {
        let wanted = ScriptedProvider::new(Scenario::new().model("wanted").turn(wanted));
        let other = Arc::new(ScriptedProvider::new(Scenario::new().model("other").turn("from the other")));
        let provider =
            FallbackProvider::new(Arc::new(wanted), Arc::clone(&other) as Arc<dyn Provider>, "other");
        let answer = provider.stream(Request::new("wanted"), CancellationToken::new()).collect().await;
        (answer, other.request_count())
    }

    fn overloaded() -> ProviderError {
        ProviderError::new(ProviderErrorKind::Overloaded, "no capacity")
    }

    fn texts(answer: &[Result<Chunk, ProviderError>]) -> String {
        let text = |item: &Result<Chunk, ProviderError>| match item {
            Ok(Chunk::Text { delta }) => delta.to_string(),
            Ok(Chunk::Provider { provider }) => format!("[{provider}]"),
            Ok(Chunk::Model { model }) => format!("<{model}>"),
            Ok(Chunk::Done { stop_reason: StopReason::Stop }) => ".".into(),
            Err(error) => format!("({error})"),
            other => format!("{other:?}"),
        };
        answer.iter().map(text).collect()
    }

    #[tokio::test]
    async fn an_overloaded_model_is_replaced_before_it_has_said_anything() {
        let (answer, asked) = ask(Turn::new().error(overloaded())).await;
        assert_eq!((texts(&answer).as_str(), asked), ("<wanted>[scripted]<other><other>from the other.", 1));
    }

    /// A provider whose models all cost the same.
    struct Priced(ScriptedProvider, u64);

    impl Provider for Priced {
        fn id(&self) -> &str {
            self.0.id()
        }

        fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
            self.0.stream(request, cancel)
        }

        fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
            let base = Rates { input: self.1, ..Rates::default() };
            let prices = Some(Prices { base, long: None });
            Some(Arc::new(ModelInfo { known: true, prices, ..ModelInfo::unknown(model) }))
        }
    }

    #[tokio::test]
    async fn a_model_that_both_have_costs_what_the_one_asks_who_answered() {
        let wanted =
            Scenario::new().model("same").turn(Turn::new().error(overloaded())).turn("from the wanted");
        let wanted = Priced(ScriptedProvider::new(wanted), 7);
        let other = Priced(ScriptedProvider::new(Scenario::new().model("same").turn("from the other")), 3);
        let provider = FallbackProvider::new(Arc::new(wanted), Arc::new(other), "same");
        let price = || provider.describe("same").unwrap().prices.unwrap().base.input;
        let mut prices = vec![price()];
        for _ in 0..2 {
            provider.stream(Request::new("same"), CancellationToken::new()).collect::<Vec<_>>().await;
            prices.push(price());
        }
        assert_eq!(prices, [7, 3, 7]);
    }

    #[tokio::test]
    async fn one_that_has_begun_to_speak_is_not_replaced() {
        let (answer, asked) = ask(Turn::new().text("half").error(overloaded())).await;
        assert_eq!((texts(&answer).as_str(), asked), ("<wanted>half(no capacity)", 0));
    }

    #[tokio::test]
    async fn other_errors_are_no_reason() {
        let limited = ProviderError::new(ProviderErrorKind::RateLimited, "slow down");
        let (answer, asked) = ask(Turn::new().error(limited)).await;
        assert_eq!((texts(&answer).as_str(), asked), ("<wanted>(slow down)", 0));
    }
}
