//! `Meters`: tokens of model calls and durations of calls, tools and runs, as cumulative histograms.

use std::collections::BTreeMap;

use super::span::{Attribute, text};
use super::spans::{AGENT, Call, Finished, OperationKind, input_tokens};

/// The bounds that the conventions recommend for tokens.
pub(super) const TOKEN_BOUNDS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The bounds that the conventions recommend for seconds.
pub(super) const SECOND_BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// The bounds that the conventions recommend for the seconds of a run.
const RUN_BOUNDS: [f64; 13] = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];

/// How many kinds of calls are counted separately; more than one session uses.
const SERIES_MAX: usize = 64;

/// Histograms by their attributes.
pub(super) type Series = BTreeMap<Vec<Attribute>, Histogram>;

/// The measurements so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Meters {
    /// Tokens, by service, model and direction.
    pub(super) tokens: Series,
    /// Seconds of model calls, by service, model and kind of failure.
    pub(super) calls: Series,
    /// Seconds until a model began to answer, by service and model.
    pub(super) first_chunks: Series,
    /// Seconds of tool calls, by tool and kind of failure.
    pub(super) tools: Series,
    /// Seconds of runs, by kind of failure.
    pub(super) runs: Series,
}

/// Counts of values between bounds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Histogram {
    pub(super) bounds: &'static [f64],
    pub(super) counts: Vec<u64>,
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Meters {
    /// Adds a finished operation.
    pub(super) fn count(&mut self, finished: &Finished) {
        let Finished { span, what } = finished;
        let error = span.error.as_ref().map(|error| text("error.type", error));
        match what {
            OperationKind::Run => {
                let mut about = vec![text("gen_ai.agent.name", AGENT)];
                about.extend(error);
                record(&mut self.runs, about, &RUN_BOUNDS, span.seconds());
            }
            OperationKind::Tool { name } => {
                let mut about = vec![
                    text("gen_ai.agent.name", AGENT),
                    text("gen_ai.tool.name", name),
                    text("gen_ai.tool.type", "function"),
                ];
                about.extend(error);
                record(&mut self.tools, about, &SECOND_BOUNDS, span.seconds());
            }
            OperationKind::Call(call) => self.count_call(call, error),
        }
    }

    fn count_call(&mut self, call: &Call, error: Option<Attribute>) {
        let mut about = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", &call.provider),
            text("gen_ai.request.model", &call.model),
        ];
        about.extend(call.answered_by.as_ref().map(|model| text("gen_ai.response.model", model)));
        // A call that failed before it used anything has no tokens to count.
        if call.usage.total() > 0 {
            for (direction, tokens) in [("input", input_tokens(call.usage)), ("output", call.usage.output)] {
                let mut about = about.clone();
                about.push(text("gen_ai.token.type", direction));
                record(&mut self.tokens, about, &TOKEN_BOUNDS, tokens as f64);
            }
        }
        if let Some(milliseconds) = call.first_token_ms {
            record(&mut self.first_chunks, about.clone(), &SECOND_BOUNDS, milliseconds as f64 / 1000.0);
        }
        about.extend(error);
        record(&mut self.calls, about, &SECOND_BOUNDS, call.duration_ms as f64 / 1000.0);
    }

    /// Whether nothing was measured.
    pub(super) fn is_empty(&self) -> bool {
        let all = [&self.tokens, &self.calls, &self.first_chunks, &self.tools, &self.runs];
        all.into_iter().all(BTreeMap::is_empty)
    }
}

fn record(series: &mut Series, about: Vec<Attribute>, bounds: &'static [f64], value: f64) {
    if series.len() >= SERIES_MAX && !series.contains_key(&about) {
        return;
    }
    series.entry(about).or_insert_with(|| Histogram::new(bounds)).record(value);
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        let counts = vec![0; bounds.len() + 1];
        Self { bounds, counts, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }

    /// A value equal to a bound belongs to the bucket below it.
    fn record(&mut self, value: f64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get_mut(place) {
            *count += 1;
        }
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// How many values there were.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
#[path = "meters_tests.rs"]
mod tests;
