//! `Best`: the shortest time of each case. Whatever else a machine does can only add to a time.

use std::collections::BTreeMap;
use std::time::Duration;

/// The shortest time of each case.
#[derive(Default)]
pub(crate) struct Best(BTreeMap<String, Duration>);

impl Best {
    /// Takes in one measurement.
    pub(crate) fn take(&mut self, case: impl Into<String>, time: Duration) {
        let best = self.0.entry(case.into()).or_insert(Duration::MAX);
        *best = time.min(*best);
    }

    /// The shortest, in nanoseconds.
    pub(crate) fn nanos(&self, case: &str) -> f64 {
        self.0.get(case).expect("the case was measured").as_secs_f64() * 1e9
    }

    /// What one unit costs: the case ran with `few` and with `many` of them.
    pub(crate) fn per_unit(&self, case: &str, few: usize, many: usize) -> f64 {
        let (less, more) = (self.nanos(&sized(case, few)), self.nanos(&sized(case, many)));
        (more - less) / (many - few) as f64
    }
}

/// The name of a case with so many units.
pub(crate) fn sized(case: &str, units: usize) -> String {
    format!("{case} x {units}")
}
