//! Time: runs the criterion benchmarks and reads the results that they leave on disk.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::costs::Costs;
use super::process::{Checkout, printed, silent};

/// Times in nanoseconds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Times {
    /// The best sample: whatever else the machine does can only add to a time.
    pub(super) best: Costs,
    /// The median.
    pub(super) median: Costs,
}

/// The times of every case and size.
pub(super) fn measure(checkout: &Checkout) -> Result<Times> {
    let results = checkout.target("bench/criterion");
    if results.exists() {
        // Whatever an earlier run left would be taken for a result of this one.
        fs::remove_dir_all(&results).context("cannot remove the results of the last run")?;
    }
    printed(&mut checkout.cargo("bench --package rheon --locked --bench loop_overhead --no-run"))?;
    println!("== criterion: about a minute");
    silent(
        checkout
            .cargo("bench --package rheon --locked --bench loop_overhead")
            .env("CRITERION_HOME", &results),
    )?;
    let mut times = Times::default();
    collect(&results, &mut times)?;
    Ok(times)
}

/// Takes in every result below `dir`.
fn collect(dir: &Path, times: &mut Times) -> Result<()> {
    if dir.join("benchmark.json").is_file() {
        let [name, estimates, samples] =
            ["benchmark.json", "estimates.json", "sample.json"].map(|file| read(&dir.join(file)));
        return take(&name?, &estimates?, &samples?, times);
    }
    let entries = fs::read_dir(dir).with_context(|| format!("no results in {}", dir.display()))?;
    for entry in entries {
        let entry = entry?;
        // `base` holds a copy of `new` for a later comparison.
        if entry.file_type()?.is_dir() && entry.file_name() != "base" {
            collect(&entry.path(), times)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

/// Takes in one result: criterion's name of it, its estimates, and the samples they come from.
fn take(name: &Value, estimates: &Value, samples: &Value, times: &mut Times) -> Result<()> {
    let case = name.get("group_id").and_then(Value::as_str).context("a benchmark has no group")?;
    let size =
        name.get("value_str").and_then(Value::as_str).with_context(|| format!("{case} has no size"))?;
    let units = size.parse().with_context(|| format!("{case} has the size {size}"))?;
    let median = estimates.pointer("/median/point_estimate").and_then(Value::as_f64);
    times.median.insert(case, units, median.with_context(|| format!("{case} has no median"))?);
    times.best.insert(case, units, best(samples).with_context(|| format!("{case} has no samples"))?);
    Ok(())
}

/// The shortest time of one iteration.
fn best(samples: &Value) -> Option<f64> {
    let list = |key| samples.get(key)?.as_array().map(|values| values.iter().filter_map(Value::as_f64));
    list("times")?.zip(list("iters")?).map(|(time, iterations)| time / iterations).min_by(f64::total_cmp)
}

#[cfg(test)]
#[path = "timing_tests.rs"]
mod tests;
