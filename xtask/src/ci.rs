//! `cargo xtask ci`: everything a change must pass, in order, up to the first failure.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::command::Invocation;

/// Whether the checker of dependencies is there.
#[derive(Debug, Clone, Copy)]
enum CargoDeny {
    Installed,
    Missing,
}

/// One part of the work.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A call that must succeed.
    Run { name: &'static str, call: Invocation },
    /// A call that is left out, and why.
    Skip { name: &'static str, reason: &'static str },
}

/// Runs all steps; stops at the first that fails.
pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    let mut times = Vec::new();
    let deny = if is_installed("cargo-deny") { CargoDeny::Installed } else { CargoDeny::Missing };
    for step in steps(deny) {
        match step {
            Step::Run { name, call } => times.push((name, run_step(name, &call)?)),
            Step::Skip { name, reason } => println!("== {name}: skipped, {reason}"),
        }
    }
    for (name, seconds) in times {
        println!("{seconds:>8.1} s  {name}");
    }
    println!("== all passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn steps(deny: CargoDeny) -> Vec<Step> {
    let run = |name, arguments| Step::Run { name, call: Invocation::new(arguments) };
    let documentation =
        Invocation::new("doc --workspace --no-deps --locked").with("RUSTDOCFLAGS", "-D warnings");
    let over_pipe = Invocation::new("test -p rheon-cli --test it --locked").with("RHEON_OVER_PIPE", "1");
    vec![
        run("format", "fmt --all --check"),
        run("lints", "clippy --workspace --all-targets --locked -- -D warnings"),
        run("tests", "test --workspace --locked"),
        Step::Run { name: "tests over a pipe", call: over_pipe },
        run("programs of the README", "xtask readme"),
        run("slim SDK: engine", "check -p rheon --no-default-features --locked"),
        run("slim SDK: session", "check -p rheon --no-default-features --features session --locked"),
        run("crashes", "xtask crash"),
        Step::Run { name: "documentation", call: documentation },
        run("first command", "run --release --locked -- demo --fast"),
        match deny {
            CargoDeny::Installed => run("dependencies", "deny check"),
            CargoDeny::Missing => Step::Skip {
                name: "dependencies",
                reason: "cargo-deny is not installed (`cargo install --locked cargo-deny`)",
            },
        },
    ]
}

/// Runs a step; returns how many seconds it took.
fn run_step(name: &str, call: &Invocation) -> Result<f64> {
    println!("== {name}: {call}");
    let start = Instant::now();
    let outcome = call.run();
    let seconds = start.elapsed().as_secs_f64();
    outcome.with_context(|| format!("{name} failed after {seconds:.1} s; what follows it was not run"))?;
    println!("== {name}: passed in {seconds:.1} s");
    Ok(seconds)
}

fn is_installed(program: &str) -> bool {
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&dirs).any(|dir| dir.join(&file).is_file())
}

#[cfg(test)]
#[path = "ci_tests.rs"]
mod tests;
