//! Time: runs the criterion benchmarks and reads the medians that they leave on disk.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::costs::Costs;
use super::process::{cargo, printed, silent, target};

/// The median time of every case and size, in nanoseconds.
pub(super) fn measure() -> Result<Costs> {
    let results = target("bench/criterion");
    if results.exists() {
        // Whatever an earlier run left would be taken for a result of this one.
        fs::remove_dir_all(&results).context("cannot remove the results of the last run")?;
    }
    printed(&mut cargo("bench --package rheon --locked --bench loop_overhead --no-run"))?;
    println!("== criterion: about a minute");
    silent(cargo("bench --package rheon --locked --bench loop_overhead").env("CRITERION_HOME", &results))?;
    let mut costs = Costs::default();
    collect(&results, &mut costs)?;
    Ok(costs)
}

/// Takes in every result below `folder`.
fn collect(folder: &Path, costs: &mut Costs) -> Result<()> {
    let name = folder.join("benchmark.json");
    if name.is_file() {
        return take(&read(&name)?, &read(&folder.join("estimates.json"))?, costs);
    }
    let entries = fs::read_dir(folder).with_context(|| format!("no results in {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        // `base` holds a copy of `new` for a later comparison.
        if entry.file_type()?.is_dir() && entry.file_name() != "base" {
            collect(&entry.path(), costs)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

/// Takes in one result: criterion's name of it, and its estimates.
fn take(name: &Value, estimates: &Value, costs: &mut Costs) -> Result<()> {
    let case = name.get("group_id").and_then(Value::as_str).context("a benchmark has no group")?;
    let size =
        name.get("value_str").and_then(Value::as_str).with_context(|| format!("{case} has no size"))?;
    let units = size.parse().with_context(|| format!("{case} has the size {size}"))?;
    let median = estimates.pointer("/median/point_estimate").and_then(Value::as_f64);
    costs.insert(case, units, median.with_context(|| format!("{case} has no median"))?);
    Ok(())
}

#[cfg(test)]
#[path = "timing_tests.rs"]
mod tests;
