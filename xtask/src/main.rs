//! The task runner: `cargo xtask <task>`.

mod bench;
mod book;
mod ci;
mod command;
mod crash;
mod dist;
mod e2e_claude;
mod e2e_llm;
mod e2e_mcp;
mod e2e_projects;
mod e2e_sdk;
mod escapes;
mod fake_model;
mod picture;
mod readme;

use anyhow::{Result, ensure};
use clap::{CommandFactory, Parser, Subcommand};

/// The tasks of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything a change must pass: format, lints, tests with the rules, documentation, dependencies.
    Ci,
    /// Build docs/ into one searchable site with mdBook, which is installed on first use.
    Book,
    /// Build an archive of the program for this machine, with man pages, completions and a checksum.
    Dist(dist::Arguments),
    /// Draw docs/demo.svg from what `rheon demo` prints.
    Picture,
    /// Compile and run the programs of the README in a new crate.
    Readme,
    /// The benchmarks of the crate `rheon`.
    Bench(bench::Arguments),
    /// Sessions are killed, disks fill up, the power goes: nothing acknowledged is lost.
    Crash(crash::Arguments),
    /// Every known way out of the sandbox, at every level of this machine, as root and as an ordinary user.
    Escapes,
    /// Random lines in a real bash: none that runs a denied command is judged allowed.
    FuzzShell {
        /// How many lines to try; the seed is printed.
        #[arg(long, default_value_t = 1_000_000)]
        lines: u32,
    },
    /// A real, small model on a real server: streaming and tool calls. Downloads 1.2 GB once.
    E2eLlm,
    /// The real Claude Code resumes sessions of ours, and we its own. Installs 350 MB once.
    E2eClaude,
    /// The official conformance suite of MCP, real servers through our client, official clients against our program. Installs 750 MB once.
    E2eMcp(e2e_mcp::Arguments),
    /// A scripted agent installs, builds, tests, serves and commits in a Rust, a Node, a Python and a Go project. Downloads packages.
    E2eProjects(e2e_projects::Arguments),
    /// The official Python SDK of Claude Code drives our program. Installs the SDK (350 MB) once.
    E2eSdk {
        /// Only these cases, by the names of their functions.
        cases: Vec<String>,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Some(Task::Ci) => ci::run(),
        Some(Task::Book) => book::run(),
        Some(Task::Dist(arguments)) => dist::run(&arguments),
        Some(Task::Picture) => picture::run(),
        Some(Task::Readme) => readme::run(),
        Some(Task::Bench(arguments)) => bench::run(&arguments),
        Some(Task::Crash(arguments)) => crash::run(&arguments),
        Some(Task::Escapes) => escapes::run(),
        Some(Task::FuzzShell { lines }) => fuzz_shell(lines),
        Some(Task::E2eLlm) => e2e_llm::run(),
        Some(Task::E2eClaude) => e2e_claude::run(),
        Some(Task::E2eMcp(arguments)) => e2e_mcp::run(&arguments),
        Some(Task::E2eProjects(arguments)) => e2e_projects::run(&arguments),
        Some(Task::E2eSdk { cases }) => e2e_sdk::run(&cases),
        None => Ok(Arguments::command().print_help()?),
    }
}

/// Lines per case of the tests that compare the shell analysis with a real bash.
const LINES_PER_CASE: u32 = 16;

fn fuzz_shell(lines: u32) -> Result<()> {
    let status = std::process::Command::new("cargo")
        .args(["test", "--release", "--package", "rheon-policy", "--lib", "--"])
        .args([
            "no_line_that_runs_a_denied_command",
            "a_real_bash_runs_what_the_analysis_lists",
            "--nocapture",
        ])
        .env("PROPTEST_CASES", lines.div_ceil(LINES_PER_CASE).to_string())
        .current_dir(xtask::walk::root())
        .status()?;
    ensure!(status.success(), "a line was judged wrongly; the seed and the line are above");
    Ok(())
}
