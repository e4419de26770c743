//! Instructions: runs every case under callgrind, whose counts do not depend on the load of the machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::costs::Costs;
use super::process::{Checkout, printed, silent};

/// Callgrind counts only inside this function of the benchmark, so that preparing a case is left out.
const MEASURED: &str = "--toggle-collect=*instructions*measured*";

/// The instructions of every case and size; none if valgrind is not installed.
pub(super) fn measure(checkout: &Checkout) -> Result<Option<Costs>> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Ok(None);
    }
    let build = "bench --package rheon --locked --bench instructions --no-run --message-format json";
    let program = executable(&printed(&mut checkout.cargo(build))?).context("cargo named no executable")?;
    let sizes = sizes(&silent(&mut Command::new(&program))?)?;
    println!("== valgrind --tool=callgrind: {} runs", sizes.len());
    count_all(&program, sizes).map(Some)
}

/// The program that cargo says it built.
fn executable(messages: &str) -> Option<PathBuf> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built =
        parsed.filter(|message| message.pointer("/target/name").is_some_and(|name| name == "instructions"));
    built.find_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
}

/// Every case at each of its sizes, as the program lists them.
fn sizes(lines: &str) -> Result<Vec<(String, u64)>> {
    let mut sizes = Vec::new();
    for line in lines.lines() {
        let entry: Value = serde_json::from_str(line).with_context(|| format!("cannot read {line}"))?;
        let case = entry.get("case").and_then(Value::as_str).with_context(|| format!("no case in {line}"))?;
        let units =
            entry.get("units").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64);
        sizes.extend(units.map(|units| (case.to_owned(), units)));
    }
    Ok(sizes)
}

/// Counts on every core at once: the counts do not mind.
fn count_all(program: &Path, sizes: Vec<(String, u64)>) -> Result<Costs> {
    let waiting = Mutex::new(sizes);
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop());
    let work = || -> Result<Vec<(String, u64, f64)>> {
        let mut counts = Vec::new();
        while let Some((case, units)) = next() {
            let count = count(program, &case, units)?;
            counts.push((case, units, count));
        }
        Ok(counts)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let counts = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join()).collect::<Vec<_>>()
    });
    let mut costs = Costs::default();
    for counts in counts {
        let Ok(counts) = counts else { bail!("a thread that counts instructions panicked") };
        for (case, units, count) in counts? {
            costs.insert(case, units, count);
        }
    }
    Ok(costs)
}

fn count(program: &Path, case: &str, units: u64) -> Result<f64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", MEASURED]).arg(program);
    let output = valgrind.args([case, &units.to_string()]).output().context("cannot start valgrind")?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{case} with {units} units failed under valgrind:\n{report}");
    }
    collected(&report).with_context(|| format!("callgrind reported no count:\n{report}"))
}

/// The count in callgrind's report.
fn collected(report: &str) -> Option<f64> {
    let (_, count) = report.lines().find_map(|line| line.split_once("Collected : "))?;
    count.trim().parse().ok()
}

#[cfg(test)]
#[path = "instructions_tests.rs"]
mod tests;
