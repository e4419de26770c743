//! Instructions: runs one case once, to be counted by callgrind. `cargo xtask bench instructions` does so.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not be counted"
)]

mod support;

use std::any::Any;

use tokio::runtime::Runtime;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [name, units] => run(name, units.parse().expect("the number of units")),
        _ => list(),
    }
}

/// Runs one case once.
fn run(name: &str, units: u32) {
    let cases = support::cases();
    let case = cases.iter().find(|case| case.name == name).expect("the name of a case");
    let runtime = support::runtime();
    let job = case.prepare(units);
    drop(measured(&runtime, job));
}

/// The part that counts. Callgrind finds it by its name.
#[inline(never)]
fn measured(runtime: &Runtime, job: support::Job) -> Box<dyn Any> {
    runtime.block_on(job)
}

/// Says which cases there are, one JSON object per line.
fn list() {
    for case in support::cases() {
        println!("{}", serde_json::json!({ "case": case.name, "units": [case.few, case.many] }));
    }
}
