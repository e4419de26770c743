//! `FallbackProvider`: another model answers when the wanted one has no capacity.

use std::pin::Pin;
use std::sync::Arc;
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
}

impl FallbackProvider {
    /// Asks `wanted`, and `other_model` of `other` where that is overloaded.
    pub fn new(
        wanted: Arc<dyn Provider>,
        other: Arc<dyn Provider>,
        other_model: impl Into<Arc<str>>,
    ) -> Self {
        Self { wanted, other, other_model: other_model.into() }
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
        Box::pin(Fallback { stream: self.wanted.stream(request, cancel), next: Some(next) })
    }

    /// The wanted provider knows its own models; the other one's is looked up there.
    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
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

struct Fallback {
    stream: ChunkStream,
    /// Present until something was said.
    next: Option<Next>,
}

impl Stream for Fallback {
    type Item = Result<Chunk, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let item = ready!(this.stream.as_mut().poll_next(context));
        match (&item, this.next.take()) {
            (Some(Err(error)), Some(next)) if error.kind == ProviderErrorKind::Overloaded => {
                let provider = next.provider.id().into();
                this.stream = next.provider.stream(next.request, next.cancel);
                Poll::Ready(Some(Ok(Chunk::Provider { provider })))
            }
            (Some(Ok(Chunk::Model { .. } | Chunk::Usage { .. })), next) => {
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
    use rheon_types::StopReason;

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
        assert_eq!((texts(&answer).as_str(), asked), ("<wanted>[scripted]<other>from the other.", 1));
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
