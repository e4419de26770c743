//! `cargo xtask bench cli`: the program beside the agents that people use instead, with the same fake model, in one run.

mod agent;
mod doorway;
mod measure;
mod peers;
mod rows;
mod stage;
mod watched;

use std::path::Path;

use anyhow::{Context, Result};

use agent::Agent;

use super::figures::{Figures, render};
use super::process::{cargo, load, printed};

/// How it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub(super) struct Options {
    /// For `cli`: install the agents to compare with from npm, 1 GB, into the target directory; without it, those that are installed.
    #[arg(long)]
    peers: bool,
    /// For `cli`: how often each thing is run.
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
}

/// The name of another build of the program.
const REFERENCE: &str = "reference";

/// Builds the program, measures it and its peers, and prints the table. With another build of the program as `reference`, it is
/// compared with that alone.
pub(super) fn run(options: Options, reference: Option<&Path>) -> Result<()> {
    // One after the other: together, the program would be compiled with what only the server needs.
    for program in ["-p rheon-cli --bin rheon", "-p rheon-testkit --bin rheon-fake-model"] {
        printed(&mut cargo(&format!("build --profile dist --locked {program}")))?;
    }
    let others = match reference {
        Some(program) => {
            let found = program.canonicalize().with_context(|| format!("no {}", program.display()))?;
            vec![Agent::rheon(REFERENCE, found)]
        }
        None => peers::found(options.peers)?,
    };
    let before = load();
    let mut figures = Figures::default();
    measure::measure(&others, options.runs, &mut figures)?;
    let names: Vec<&'static str> = others.iter().map(|other| other.name).collect();
    let rows = if reference.is_some() { rows::beside(REFERENCE) } else { rows::rows(&names) };
    println!("\n{}", render(&rows, &figures));
    println!("{} runs each; load of the machine: {before} before, {} behind", options.runs, load());
    Ok(())
}
