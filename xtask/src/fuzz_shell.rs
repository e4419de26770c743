//! `cargo xtask fuzz-shell`: random lines in a real bash against the shell analysis and the rules.

use std::process::Command;

use anyhow::{Result, ensure};

/// Lines per case of the tests' configuration.
const LINES_PER_CASE: u32 = 16;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many lines to try; the seed is printed
    #[arg(long, default_value_t = 1_000_000)]
    lines: u32,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let cases = arguments.lines.div_ceil(LINES_PER_CASE);
    let status = Command::new("cargo")
        .args(["test", "--release", "--package", "rheon-policy", "--lib", "--"])
        .args([
            "no_line_that_runs_a_denied_command",
            "a_real_bash_runs_what_the_analysis_lists",
            "--nocapture",
        ])
        .env("PROPTEST_CASES", cases.to_string())
        .status()?;
    ensure!(status.success(), "a line was judged wrongly; the seed and the line are above");
    Ok(())
}
