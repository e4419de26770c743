//! Models without reliable tool calls: tools in the prompt with structured output, and calls recovered from text.

mod decode;
mod head;
mod json;
mod lenient;
mod lower;
mod recover;
mod schema;
mod stream;

use std::sync::Arc;

use rheon_types::{Answer, ChunkStream, ModelInfo, Provider, Request, ToolChoice, ToolDefinition};
use tokio_util::sync::CancellationToken;

use decode::{AnswerValue, Steps};
use lenient::{BareCalls, Lenient};
use lower::lower;
use recover::{RecoveredCall, ResponseState, Verdict, tagged, whole};
use stream::{Filter, FilteredStream};

/// The calls that a complete `text` is, of tools that are `offered`.
pub(crate) fn calls_in(text: &str, offered: &[ToolDefinition]) -> Option<Vec<RecoveredCall>> {
    let read = |start: &str, calls: fn(&str, &[ToolDefinition], ResponseState) -> Verdict| match calls(
        start,
        offered,
        ResponseState::Complete,
    ) {
        Verdict::Calls(calls) => Some(calls),
        Verdict::More | Verdict::Text(_) => None,
    };
    let tag = recover::TAGS.iter().filter_map(|tag| text.find(tag)).min();
    read(text, whole).or_else(|| read(text.get(tag?..)?, tagged))
}

/// A provider that puts the tools into the prompt and parses the model's JSON into text and tool calls.
///
/// A request without tools passes unchanged.
#[derive(Clone)]
pub struct PromptedTools {
    inner: Arc<dyn Provider>,
}

impl PromptedTools {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Provider>) -> Self {
        Self { inner }
    }
}

impl Provider for PromptedTools {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        if request.tools.is_empty() {
            return self.inner.stream(request, cancel);
        }
        let answer = if request.output_schema.is_some() { AnswerValue::Json } else { AnswerValue::Text };
        let (lowered, offered) = lower(&request);
        let steps = Filter::Steps(Steps::new(offered, answer));
        Box::pin(FilteredStream::new(self.inner.stream(lowered, cancel), steps))
    }

    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        self.inner.describe(model)
    }

    /// Counts the request that is really sent.
    fn count_tokens<'a>(&'a self, request: &'a Request) -> Answer<'a, Option<u64>> {
        if request.tools.is_empty() {
            return self.inner.count_tokens(request);
        }
        let (lowered, _) = lower(request);
        Answer::later(async move { self.inner.count_tokens(&lowered).get().await })
    }
}

/// A provider that also recovers tool calls that the model wrote as text.
#[derive(Clone)]
pub struct LenientTools {
    inner: Arc<dyn Provider>,
}

impl LenientTools {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Provider>) -> Self {
        Self { inner }
    }
}

impl Provider for LenientTools {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        if request.tools.is_empty() || request.tool_choice == ToolChoice::None {
            return self.inner.stream(request, cancel);
        }
        let bare = if request.output_schema.is_some() { BareCalls::Text } else { BareCalls::Recovered };
        let lenient = Filter::Lenient(Lenient::new(Arc::clone(&request.tools), bare));
        Box::pin(FilteredStream::new(self.inner.stream(request, cancel), lenient))
    }

    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        self.inner.describe(model)
    }

    fn count_tokens<'a>(&'a self, request: &'a Request) -> Answer<'a, Option<u64>> {
        self.inner.count_tokens(request)
    }
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod lenient_tests;
#[cfg(test)]
mod lower_tests;
#[cfg(test)]
mod prompted_tests;
#[cfg(test)]
mod schema_tests;
