//! The `rg` program, called with the settings of our tools.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the program; `cargo xtask bench tools` sets it.
const PROGRAM: &str = "RHEON_BENCH_RIPGREP";
/// As many threads as our tools take.
const THREADS: &str = "4";

/// The program, or none with a word about why.
pub(crate) fn program() -> Option<PathBuf> {
    let named = std::env::var_os(PROGRAM).map_or_else(|| PathBuf::from("rg"), PathBuf::from);
    match Command::new(&named).arg("--version").output() {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout);
            eprintln!("== compared with {}", version.lines().next().unwrap_or("an unknown ripgrep"));
            Some(named)
        }
        Ok(_) | Err(_) => {
            eprintln!("== ripgrep: skipped, {} cannot be started; set {PROGRAM}", named.display());
            None
        }
    }
}

/// What it prints about `dir`. Hidden files are seen and ignore files obeyed, also outside repositories, as our tools do.
pub(crate) fn run(program: &Path, dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program)
        .args(["--no-config", "--hidden", "--no-require-git", "--threads", THREADS])
        .args(arguments)
        .arg(dir)
        .output()
        .expect("ripgrep can be started");
    assert!(output.stderr.is_empty(), "ripgrep complains: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
