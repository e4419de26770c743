//! `cargo xtask bench providers`: frames, answers, requests and the way to the network, beside what others take for them.

mod rows;

use anyhow::Result;

use super::figures::{Figures, render};
use super::process::{cargo, load, printed};

/// Runs both benchmarks and prints the table.
pub(super) fn run() -> Result<()> {
    let mut figures = Figures::default();
    let before = load();
    for bench in ["speed", "memory"] {
        let run = format!("bench --package rheon-providers --locked --bench {bench}");
        figures.read(&printed(&mut cargo(&run))?)?;
    }
    println!("\n{}", render(&rows::rows(), &figures));
    println!("load of the machine: {before} before, {} behind", load());
    Ok(())
}
