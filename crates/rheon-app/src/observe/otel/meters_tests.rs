//! Where values fall, and how many kinds of them there may be.

use rheon_types::Usage;

use super::{Histogram, Meters, SECOND_BOUNDS, SERIES_MAX};
use crate::observe::otel::spans::Call;

fn call(model: &str) -> Call {
    let usage = Usage { input: 10, output: 4, ..Usage::default() };
    let (provider, model, answered_by) = ("acme".to_owned(), model.to_owned(), None);
    Call { provider, model, answered_by, usage, duration_ms: 20, first_token_ms: Some(5) }
}

#[test]
fn a_bound_belongs_to_what_is_below_it() {
    let mut histogram = Histogram::new(&SECOND_BOUNDS);
    for value in [0.0, 0.01, 0.010_1, 81.92, 82.0] {
        histogram.record(value);
    }
    assert_eq!(histogram.counts, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
    assert_eq!((histogram.count(), histogram.min, histogram.max), (5, 0.0, 82.0));
}

#[test]
fn kinds_of_calls_are_bounded() {
    let mut meters = Meters::default();
    for number in 0..=SERIES_MAX {
        meters.count_call(&call(&number.to_string()), None);
    }
    meters.count_call(&call("0"), None);
    assert_eq!((meters.calls.len(), meters.tokens.len()), (SERIES_MAX, SERIES_MAX));
    assert_eq!(meters.first_chunks.len(), SERIES_MAX);
    let counts: Vec<u64> = meters.calls.values().map(Histogram::count).collect();
    assert_eq!(counts.iter().sum::<u64>(), SERIES_MAX as u64 + 1);
}
