//! Where values fall, and how many kinds of them there may be.

use rheon_types::Usage;

use super::{Histogram, Meters, SECOND_BOUNDS, SERIES_MAX};
use crate::observe::otel::spans::Call;

fn call(model: &str) -> Call {
    let usage = Usage { input: 10, output: 4, ..Usage::default() };
    Call { provider: "acme".into(), model: model.into(), usage, duration_ms: 20, error: None }
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
        meters.count(&call(&number.to_string()));
    }
    meters.count(&call("0"));
    assert_eq!((meters.seconds.len(), meters.tokens.len()), (SERIES_MAX, SERIES_MAX));
    let counts: Vec<u64> = meters.seconds.values().map(Histogram::count).collect();
    assert_eq!(counts.iter().sum::<u64>(), SERIES_MAX as u64 + 1);
}
