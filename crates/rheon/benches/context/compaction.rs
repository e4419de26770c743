//! A window of 200,000 tokens is made half as long, without a model.

use std::hint::black_box;

use rheon::context::{CompactionStrategy, Summariser, SummaryBy, Tiers, TokenCounter, WindowView};
use rheon::types::{AgentMessage, Answer, BoxFuture, History, ProviderError, ProviderErrorKind, WindowCut};

use crate::conversation::of_tokens;
use crate::race::{race, whole};
use crate::report;

const TOKENS: u64 = 200_000;
const ROUNDS: usize = 30;
/// How long results are: of the first, trimming is enough; of the second, old turns are summarised.
const RESULTS: [(&str, usize); 2] = [("trimmed", 8_000), ("summarised", 1_000)];

/// Nobody.
struct Nobody;

impl Summariser for Nobody {
    fn summarise<'a>(
        &'a self,
        _messages: &'a History,
        _instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ProviderError>> {
        Box::pin(async { Err(ProviderError::new(ProviderErrorKind::Cancelled, "nobody writes summaries")) })
    }
}

pub(crate) fn measure() {
    let counter = TokenCounter::default();
    let count = move |message: &AgentMessage| counter.entry(message);
    let tiers = Tiers { summary: SummaryBy::Nobody, ..Tiers::default() };
    for (name, result_bytes) in RESULTS {
        let history = of_tokens(TOKENS, result_bytes, count);
        let view = WindowView {
            history: &history,
            cuts: &[],
            tokens_target: TOKENS / 2,
            count: &count,
            tasks: &[],
            instructions: None,
        };
        let compact = || -> Vec<WindowCut> {
            match tiers.compact(view, &Nobody) {
                Answer::Now(cuts) => cuts,
                Answer::Later(_) => panic!("nobody has to be waited for"),
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
