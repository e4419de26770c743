//! `cargo xtask bench`: speed and memory as one table, each figure beside a reference measured in the same run.

mod cli;
mod context;
mod costs;
mod figures;
mod instructions;
mod judged;
mod process;
mod providers;
mod rows;
mod store;
mod table;
mod timing;
mod tools;

use anyhow::{Context, Result, bail};

use costs::Costs;
use process::{cargo, printed, target};
use table::Measured;

/// Which benchmarks.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only this part; without it, all but `providers`, `tools`, `store`, `context`, `cli` and `reference`, in one table.
    part: Option<Part>,
    #[command(flatten)]
    cli: cli::Options,
    /// For `reference`, handed on to cargo: `cargo xtask bench reference -- --no-default-features`.
    #[arg(last = true)]
    extra: Vec<String>,
}

/// One part of the benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Time, by criterion.
    Loop,
    /// Allocations, counted.
    Allocations,
    /// Instructions, counted by callgrind; needs valgrind.
    Instructions,
    /// The providers: streams, requests, the network. A table of its own.
    Providers,
    /// The tools: files, search, shell lines. A table of its own; fetches ripgrep first.
    Tools,
    /// The store: journals, sessions and their index. A table of its own; makes sessions of 1 GB first.
    Store,
    /// The context: what a turn pays for the conversation before it, and compaction. A table of its own.
    Context,
    /// The program beside other agents. A table of its own; builds the program as it is released.
    Cli,
    /// The same work on other systems, in one process. Downloads and compiles them first.
    Reference,
}

/// Runs them. A missed aim is said, but is no failure: the machine may be busy.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let measured = match arguments.part {
        Some(Part::Reference) => return run_reference(&arguments.extra),
        Some(Part::Providers) => return providers::run(),
        Some(Part::Tools) => return tools::run(),
        Some(Part::Store) => return store::run(),
        Some(Part::Context) => return context::run(),
        Some(Part::Cli) => return cli::run(arguments.cli),
        Some(Part::Loop) => Measured { times: timing::measure()?, ..Measured::default() },
        Some(Part::Allocations) => Measured { allocations: allocations()?, ..Measured::default() },
        Some(Part::Instructions) => Measured { instructions: counted()?, ..Measured::default() },
        None => Measured { times: timing::measure()?, allocations: allocations()?, instructions: counted()? },
    };
    println!("\n{}", table::render(rows::ROWS, &measured));
    Ok(())
}

fn counted() -> Result<Costs> {
    match instructions::measure()? {
        Some(costs) => Ok(costs),
        None => {
            println!("== instructions: skipped, valgrind is not installed");
            Ok(Costs::default())
        }
    }
}

/// The allocations of every case and size.
fn allocations() -> Result<Costs> {
    let lines = printed(&mut cargo("bench --package rheon --locked --bench allocations"))?;
    Costs::read(&lines, "allocations")
}

/// Builds and runs the package that does the same work on other systems and on Rheon, in one process; its table is its output.
/// `extra` goes to cargo.
fn run_reference(extra: &[String]) -> Result<()> {
    println!(
        "== benches/reference: downloads the systems compared and compiles them, which takes minutes the first time"
    );
    let mut run = cargo("run --release --locked --manifest-path benches/reference/Cargo.toml");
    run.arg("--target-dir").arg(target("reference")).args(extra);
    let status = run.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("benches/reference ended with {status}");
    }
    Ok(())
}
