//! The context: what a turn pays for the conversation before it, and what it takes to make a window shorter. One JSON object per
//! line, which `cargo xtask bench context` reads.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a figure"
)]

mod compaction;
mod conversation;
#[allow(dead_code, reason = "shared with the benchmark of the tools, which uses all of it")]
#[path = "../tools/race.rs"]
mod race;
mod turns;

fn main() {
    turns::measure();
    compaction::measure();
}

/// Hands on one figure.
fn report(case: &str, value: f64) {
    println!("{}", serde_json::json!({ "case": case, "value": value }));
}
