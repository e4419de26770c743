//! Other systems: builds and runs the package that does the same work on them and on Rheon, in one process.

use anyhow::{Context, Result, bail};

use super::process::{cargo, target};

/// Runs it, with `extra` arguments for cargo; its table is its output.
pub(super) fn run(extra: &[String]) -> Result<()> {
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
