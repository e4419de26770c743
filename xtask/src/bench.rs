//! `cargo xtask bench`: speed and memory as one table, each figure beside a reference measured in the same run.

mod cli;
mod compared;
mod context;
mod costs;
mod figures;
mod instructions;
mod judged;
mod process;
mod providers;
mod rows;
mod session;
mod store;
mod table;
mod timing;
mod tools;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use costs::Costs;
use process::{Checkout, cargo, printed, target};
use table::Measured;

/// Which benchmarks.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only this part; without it, all but `providers`, `tools`, `store`, `context`, `session`, `cli` and `reference`, in one table.
    part: Option<Part>,
    #[command(flatten)]
    cli: cli::Options,
    /// Compare with another build: for `loop`, `allocations` and `instructions` a checkout, for `cli` a `rheon` program.
    #[arg(long, value_name = "PATH")]
    reference: Option<PathBuf>,
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
    /// A session and those who watch it: subscribers, snapshots, the byte pipe. A table of its own.
    Session,
    /// The program beside other agents. A table of its own; builds the program as it is released.
    Cli,
    /// The same work on other systems, in one process. Downloads and compiles them first.
    Reference,
}

/// Runs them. A missed aim is said, but is no failure: the machine may be busy.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Some(part) = arguments.part else { return instruments(&ALL, arguments) };
    let is_compared = matches!(part, Part::Loop | Part::Allocations | Part::Instructions | Part::Cli);
    if arguments.reference.is_some() && !is_compared {
        bail!("--reference is for `loop`, `allocations`, `instructions` and `cli` only");
    }
    match part {
        Part::Loop | Part::Allocations | Part::Instructions => instruments(&[part], arguments),
        Part::Providers => providers::run(),
        Part::Tools => tools::run(),
        Part::Store => store::run(),
        Part::Context => context::run(),
        Part::Session => session::run(),
        Part::Cli => cli::run(arguments.cli, arguments.reference.as_deref()),
        Part::Reference => run_reference(&arguments.extra),
    }
}

/// The parts that share one table.
const ALL: [Part; 3] = [Part::Loop, Part::Allocations, Part::Instructions];

/// Measures with these instruments here, and in the checkout to compare with.
fn instruments(parts: &[Part], arguments: &Arguments) -> Result<()> {
    let other = arguments.reference.as_deref().map(Checkout::at).transpose()?;
    let measured = measure(parts, &Checkout::here())?;
    println!("\n{}", table::render(rows::ROWS, &measured));
    if let Some(other) = other {
        println!("{}", compared::render(rows::ROWS, &measured, &measure(parts, &other)?));
    }
    Ok(())
}

fn measure(parts: &[Part], checkout: &Checkout) -> Result<Measured> {
    let mut measured = Measured::default();
    if parts.contains(&Part::Loop) {
        measured.times = timing::measure(checkout)?;
    }
    if parts.contains(&Part::Allocations) {
        measured.allocations = allocations(checkout)?;
    }
    if parts.contains(&Part::Instructions) {
        measured.instructions = counted(checkout)?;
    }
    Ok(measured)
}

fn counted(checkout: &Checkout) -> Result<Costs> {
    match instructions::measure(checkout)? {
        Some(costs) => Ok(costs),
        None => {
            println!("== instructions: skipped, valgrind is not installed");
            Ok(Costs::default())
        }
    }
}

/// The allocations of every case and size.
fn allocations(checkout: &Checkout) -> Result<Costs> {
    let lines = printed(&mut checkout.cargo("bench --package rheon --locked --bench allocations"))?;
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
