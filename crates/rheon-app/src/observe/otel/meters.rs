//! `Meters`: how many tokens and how much time model calls took, as histograms that only grow.

use std::collections::BTreeMap;

use super::span::{Attribute, text};
use super::spans::{Call, input_tokens};

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

/// How many kinds of calls are told apart; more than anybody uses in one session.
const SERIES_MAX: usize = 64;

/// What was measured so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Meters {
    /// Tokens, by service, model and direction.
    pub(super) tokens: BTreeMap<Vec<Attribute>, Histogram>,
    /// Seconds, by service, model and kind of failure.
    pub(super) seconds: BTreeMap<Vec<Attribute>, Histogram>,
}

/// How often values fell between bounds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Histogram {
    pub(super) bounds: &'static [f64],
    /// One more than bounds.
    pub(super) counts: Vec<u64>,
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Meters {
    /// Takes in a model call.
    pub(super) fn count(&mut self, call: &Call) {
        let mut about = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", &call.provider),
            text("gen_ai.request.model", &call.model),
        ];
        // A call that failed before it used anything has no tokens to count.
        if call.usage.total() > 0 {
            for (direction, tokens) in [("input", input_tokens(call.usage)), ("output", call.usage.output)] {
                let mut about = about.clone();
                about.push(text("gen_ai.token.type", direction));
                record(&mut self.tokens, about, &TOKEN_BOUNDS, tokens as f64);
            }
        }
        about.extend(call.error.as_ref().map(|error| text("error.type", error)));
        record(&mut self.seconds, about, &SECOND_BOUNDS, call.duration_ms as f64 / 1000.0);
    }

    /// Whether nothing was measured.
    pub(super) fn is_empty(&self) -> bool {
        self.seconds.is_empty()
    }
}

fn record(
    series: &mut BTreeMap<Vec<Attribute>, Histogram>,
    about: Vec<Attribute>,
    bounds: &'static [f64],
    value: f64,
) {
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

    /// A bound belongs to what is below it.
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
