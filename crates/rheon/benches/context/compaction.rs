//! A window of 200,000 tokens is made half as long, without a model.

use std::hint::black_box;

use rheon::context::{
    CompactionStrategy, Summarizer, SummarySource, TieredCompaction, TokenCounter, WindowView,
};
use rheon::types::{AgentMessage, Answer, BoxFuture, History, ProviderError, ProviderErrorKind, WindowCut};

use crate::conversation::of_tokens;
use crate::race::{race, whole};
use crate::report;

const TOKENS: u64 = 200_000;
const ROUNDS: usize = 30;
/// How long results are: of the first, trimming is enough; of the second, old turns are summarised.
const RESULTS: [(&str, usize); 2] = [("trimmed", 8_000), ("summarised", 1_000)];

/// A summarizer that always fails.
struct NoSummarizer;

impl Summarizer for NoSummarizer {
    fn summarize<'a>(
        &'a self,
        _messages: &'a History,
        _instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ProviderError>> {
        Box::pin(async { Err(ProviderError::new(ProviderErrorKind::Cancelled, "no summaries")) })
    }
}

pub(crate) fn measure() {
    let counter = TokenCounter::default();
    let count = move |message: &AgentMessage| counter.entry(message);
    let tiers = TieredCompaction { summary: SummarySource::Facts, ..TieredCompaction::default() };
    for (name, result_bytes) in RESULTS {
        let history = of_tokens(TOKENS, result_bytes, count);
        let view = WindowView {
            history: &history,
            cuts: &[],
            tokens_target: TOKENS / 2,
            tokens_max: TOKENS,
            count: &count,
            tasks: &[],
            instructions: None,
        };
        let compact = || -> Vec<WindowCut> {
            match tiers.compact(view, &NoSummarizer) {
                Answer::Now(cuts) => cuts,
                Answer::Later(_) => panic!("the answer is ready"),
            }
        };
        assert!(view.tokens_with(&compact()) <= TOKENS / 2, "it is short enough");
        let times = race(
            ROUNDS,
            [
                whole("compact", || drop(black_box(compact()))),
                whole("count", || {
                    black_box(history.iter().map(|message| count(message)).sum::<u64>());
                }),
            ],
        );
        report(&format!("compaction/{name}"), times.best("compact"));
        report(&format!("compaction/{name}/count"), times.best("count"));
    }
}
