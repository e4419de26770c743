//! `cargo xtask bench providers`: frames, answers, requests and the way to the network, beside what others take for them.

mod rows;
mod table;

use std::fs;

use anyhow::Result;

use super::process::{cargo, printed};
use table::Figures;

/// Runs both benchmarks and prints the table.
pub(super) fn run() -> Result<()> {
    let mut figures = Figures::default();
    let before = load();
    for bench in ["speed", "memory"] {
        let run = format!("bench --package rheon-providers --locked --bench {bench}");
        figures.read(&printed(&mut cargo(&run))?)?;
    }
    println!("\n{}", table::render(&rows::rows(), &figures));
    println!("load of the machine: {before} before, {} behind", load());
    Ok(())
}

/// How busy the machine is, where it says so.
fn load() -> String {
    let told = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    told.split_whitespace().next().unwrap_or("unknown").to_owned()
}
