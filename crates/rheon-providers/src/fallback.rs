//! `FallbackProvider`: another model answers when the primary one is overloaded.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use rheon_types::{
    Answer, Chunk, ChunkStream, ModelInfo, Provider, ProviderError, ProviderErrorKind, Request,
};
use tokio_util::sync::CancellationToken;

/// Calls `primary`. If it is overloaded before it has sent any content, the same request goes to the fallback model.
/// The next request tries `primary` first again.
pub struct FallbackProvider {
    primary: Arc<dyn Provider>,
    fallback: Arc<dyn Provider>,
    fallback_model: Arc<str>,
    fallback_names: Arc<FallbackNames>,
}

/// The model names under which the fallback answered last: both providers may have a model of the same name at
/// different prices.
#[derive(Default)]
struct FallbackNames {
    names: Mutex<BTreeSet<String>>,
}

impl FallbackNames {
    /// More names than a service uses for one model.
    const NAMES_MAX: usize = 64;

    fn add(&self, model: &str) {
        let mut names = self.lock();
        if names.len() >= Self::NAMES_MAX {
            names.clear();
        }
        names.insert(model.to_owned());
    }

    fn remove(&self, model: &str) {
        self.lock().remove(model);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FallbackProvider {
    /// Calls `primary`, and the model `fallback_model` of `fallback` if that is overloaded.
    pub fn new(
        primary: Arc<dyn Provider>,
        fallback: Arc<dyn Provider>,
        fallback_model: impl Into<Arc<str>>,
    ) -> Self {
        Self { primary, fallback, fallback_model: fallback_model.into(), fallback_names: Arc::default() }
    }
}

impl Provider for FallbackProvider {
    fn id(&self) -> &str {
        self.primary.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        let next = FallbackCall {
            provider: Arc::clone(&self.fallback),
            request: Request { model: Arc::clone(&self.fallback_model), ..request.clone() },
            cancel: cancel.clone(),
        };
        let stream = self.primary.stream(request, cancel);
        let fallback_names = Arc::clone(&self.fallback_names);
        Box::pin(FallbackStream {
            stream,
            active: ActiveProvider::Primary,
            next: Some(next),
            pending_name: None,
            fallback_names,
        })
    }

    /// The primary provider describes its own models; the fallback model is looked up at the fallback provider.
    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        if self.fallback_names.lock().contains(model) {
            return self.fallback.describe(model);
        }
        let primary = self.primary.describe(model).filter(|info| info.known);
        primary.or_else(|| self.fallback.describe(model)).or_else(|| self.primary.describe(model))
    }

    fn count_tokens<'a>(&'a self, request: &'a Request) -> Answer<'a, Option<u64>> {
        self.primary.count_tokens(request)
    }
}

/// The request to send to the fallback.
struct FallbackCall {
    provider: Arc<dyn Provider>,
    request: Request,
    cancel: CancellationToken,
}

/// Which provider is answering.
#[derive(Clone, Copy)]
enum ActiveProvider {
    Primary,
    Fallback,
}

struct FallbackStream {
    stream: ChunkStream,
    active: ActiveProvider,
    /// Present until content has been sent.
    next: Option<FallbackCall>,
    /// The fallback model's name, if it still has to be reported: not every service reports it.
    pending_name: Option<Arc<str>>,
    fallback_names: Arc<FallbackNames>,
}

impl FallbackStream {
    /// Reports the model that answers, and remembers which provider it belongs to.
    fn model(&self, model: &str) -> Chunk {
        match self.active {
            ActiveProvider::Primary => self.fallback_names.remove(model),
            ActiveProvider::Fallback => self.fallback_names.add(model),
        }
        Chunk::Model { model: model.into() }
    }
}

impl Stream for FallbackStream {
    type Item = Result<Chunk, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(model) = this.pending_name.take() {
            return Poll::Ready(Some(Ok(this.model(&model))));
        }
        let item = ready!(this.stream.as_mut().poll_next(context));
        match (&item, this.next.take()) {
            (Some(Err(error)), Some(next)) if error.kind == ProviderErrorKind::Overloaded => {
                let provider = next.provider.id().into();
                this.pending_name = Some(Arc::clone(&next.request.model));
                this.active = ActiveProvider::Fallback;
                this.stream = next.provider.stream(next.request, next.cancel);
                Poll::Ready(Some(Ok(Chunk::Provider { provider })))
            }
            (Some(Ok(Chunk::Model { model })), next) => {
                this.next = next;
                Poll::Ready(Some(Ok(this.model(model))))
            }
            (Some(Ok(Chunk::Usage { .. } | Chunk::Notice { .. })), next) => {
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

    async fn ask(primary: Turn) -> (Vec<Result<Chunk, ProviderError>>, u64) {
        let primary = ScriptedProvider::new(Scenario::new().model("primary").turn(primary));
        let fallback = Arc::new(ScriptedProvider::new(Scenario::new().model("other").turn("from the other")));
        let provider =
            FallbackProvider::new(Arc::new(primary), Arc::clone(&fallback) as Arc<dyn Provider>, "other");
        let answer = provider.stream(Request::new("primary"), CancellationToken::new()).collect().await;
        (answer, fallback.request_count())
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
            fallback => format!("{fallback:?}"),
        };
        answer.iter().map(text).collect()
    }

    #[tokio::test]
    async fn overloaded_model_is_replaced_before_any_content() {
        let (answer, fallback_calls) = ask(Turn::new().error(overloaded())).await;
        assert_eq!(
            (texts(&answer).as_str(), fallback_calls),
            ("<primary>[scripted]<other><other>from the other.", 1)
        );
    }

    /// A provider whose models all have the same price.
    struct FixedPriceProvider(ScriptedProvider, u64);

    impl Provider for FixedPriceProvider {
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
    async fn shared_model_name_costs_what_the_answering_provider_charges() {
        let primary =
            Scenario::new().model("same").turn(Turn::new().error(overloaded())).turn("from the primary");
        let primary = FixedPriceProvider(ScriptedProvider::new(primary), 7);
        let fallback = FixedPriceProvider(
            ScriptedProvider::new(Scenario::new().model("same").turn("from the other")),
            3,
        );
        let provider = FallbackProvider::new(Arc::new(primary), Arc::new(fallback), "same");
        let price = || provider.describe("same").unwrap().prices.unwrap().base.input;
        let mut prices = vec![price()];
        for _ in 0..2 {
            provider.stream(Request::new("same"), CancellationToken::new()).collect::<Vec<_>>().await;
            prices.push(price());
        }
        assert_eq!(prices, [7, 3, 7]);
    }

    #[tokio::test]
    async fn model_that_has_sent_content_is_not_replaced() {
        let (answer, fallback_calls) = ask(Turn::new().text("half").error(overloaded())).await;
        assert_eq!((texts(&answer).as_str(), fallback_calls), ("<primary>half(no capacity)", 0));
    }

    #[tokio::test]
    async fn other_errors_do_not_trigger_the_fallback() {
        let limited = ProviderError::new(ProviderErrorKind::RateLimited, "slow down");
        let (answer, fallback_calls) = ask(Turn::new().error(limited)).await;
        assert_eq!((texts(&answer).as_str(), fallback_calls), ("<primary>(slow down)", 0));
    }
}
