//! `Costs`: what cases cost at different sizes, and from that the cost of one unit. Pure.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

/// What each case cost, by the number of its units.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Costs {
    by_case: BTreeMap<String, BTreeMap<u64, f64>>,
}

impl Costs {
    /// Adds one measurement.
    pub(super) fn insert(&mut self, case: impl Into<String>, units: u64, cost: f64) {
        self.by_case.entry(case.into()).or_default().insert(units, cost);
    }

    /// Reads measurements, one JSON object per line, each with its `case`, its `units` and its cost under `key`.
    pub(super) fn read(lines: &str, key: &str) -> Result<Self> {
        let mut costs = Self::default();
        for line in lines.lines().filter(|line| line.starts_with('{')) {
            let entry: Value = serde_json::from_str(line).with_context(|| format!("cannot read {line}"))?;
            let missing = |field: &str| format!("no {field} in {line}");
            let case = entry.get("case").and_then(Value::as_str).with_context(|| missing("case"))?;
            let units = entry.get("units").and_then(Value::as_u64).with_context(|| missing("units"))?;
            costs.insert(case, units, entry.get(key).and_then(Value::as_f64).with_context(|| missing(key))?);
        }
        Ok(costs)
    }

    /// The names of the cases that were measured.
    pub(super) fn cases(&self) -> impl Iterator<Item = &str> {
        self.by_case.keys().map(String::as_str)
    }

    /// The cost of one unit: what the additional units of the largest size cost, divided by their number.
    pub(super) fn per_unit(&self, case: &str) -> Option<f64> {
        let sizes = self.by_case.get(case)?;
        let ((few, less), (many, more)) = (sizes.first_key_value()?, sizes.last_key_value()?);
        (many > few).then(|| (more - less) / (many - few) as f64)
    }
}

#[cfg(test)]
#[path = "costs_tests.rs"]
mod tests;
