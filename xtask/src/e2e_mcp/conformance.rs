//! The official conformance suite, through our client and our server.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::fake_model::target_dir;

/// The revisions of the protocol whose requirements are fixed.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// What does not count and fails: extensions, and scenarios that are newer than their revision. Every row is
/// `revision side scenario`.
const BASELINE: &str = include_str!("baseline.txt");

/// How long the fixture server may take to start.
const START_WAIT: Duration = Duration::from_secs(30);

/// Runs both sides at both revisions and prints the table.
pub(super) fn run(cache: &Path) -> Result<()> {
    let program = target_dir().join("debug/examples/conformance");
    let (mut rows, mut failing, mut problems) = (Vec::new(), BTreeSet::new(), Vec::new());
    let server = FixtureServer::start(&program, cache)?;
    for revision in REVISIONS {
        let client = format!("{} client", program.display());
        let sides = [("client", ["--command", &client]), ("server", ["--url", &server.url])];
        for (side, target) in sides {
            let said = suite(cache, side, &target, revision)?;
            let outcome = SuiteOutcome::parse(&said);
            println!("{side} at {revision}: {} of {}", outcome.passed(), outcome.required());
            if outcome.required() == 0 || !outcome.failed.is_empty() {
                println!("{said}");
                problems.push(format!("{side} at {revision}: {:?}", outcome.failed));
            }
            failing.extend(outcome.extensions_failed.iter().map(|name| format!("{revision} {side} {name}")));
            rows.push(format!(
                "| {revision} | {side} | {} of {} | {} of {} |",
                outcome.passed(),
                outcome.required(),
                outcome.extensions.len() - outcome.extensions_failed.len(),
                outcome.extensions.len()
            ));
        }
    }
    println!("\n| revision | side | required scenarios | extensions and newer |\n|---|---|---|---|");
    println!("{}\n", rows.join("\n"));
    ensure!(problems.is_empty(), "required scenarios fail: {}", problems.join("; "));
    let baseline: BTreeSet<String> = BASELINE.lines().map(str::to_owned).collect();
    let (new, old): (Vec<_>, Vec<_>) =
        (failing.difference(&baseline).collect(), baseline.difference(&failing).collect());
    ensure!(new.is_empty() && old.is_empty(), "the baseline changed: fails now {new:?}, works now {old:?}");
    Ok(())
}

/// What the suite says.
fn suite(cache: &Path, side: &str, target: &[&str; 2], revision: &str) -> Result<String> {
    let bin = cache.join("node_modules/.bin");
    let output = Command::new(super::node(cache))
        .arg(bin.join("conformance"))
        .arg(side)
        .args(target)
        .args(["--requirements", revision, "--timeout", "120000"])
        .current_dir(cache)
        .output()
        .context("cannot start the conformance suite")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let log = cache.join(format!("conformance-{side}-{revision}.log"));
    let mut file = fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    file.write_all(&output.stdout).and_then(|()| file.write_all(&output.stderr))?;
    Ok(said)
}

/// The result of one run of the suite.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SuiteOutcome {
    all: BTreeSet<String>,
    failed: BTreeSet<String>,
    /// What does not count.
    extensions: BTreeSet<String>,
    extensions_failed: BTreeSet<String>,
}

impl SuiteOutcome {
    /// Reads the summary at the end of what the suite says.
    pub(super) fn parse(said: &str) -> Self {
        let mut outcome = Self::default();
        let Some((_, summary)) = said.rsplit_once("SUMMARY ===") else { return outcome };
        for line in summary.lines() {
            let Some(rest) = line.trim().strip_prefix(['✓', '✗']) else { continue };
            let is_failed = line.trim().starts_with('✗');
            let name = rest.trim();
            if let Some((name, counts)) = name.split_once(": ") {
                outcome.all.insert(name.to_owned());
                if !counts.contains(" 0 failed") {
                    outcome.failed.insert(name.to_owned());
                }
            } else if let Some((name, _)) = name.split_once(" (") {
                outcome.extensions.insert(name.to_owned());
                if is_failed {
                    outcome.extensions_failed.insert(name.to_owned());
                }
            }
        }
        outcome.all.retain(|name| !outcome.extensions.contains(name));
        outcome.failed.retain(|name| !outcome.extensions.contains(name));
        outcome
    }

    fn required(&self) -> usize {
        self.all.len()
    }

    fn passed(&self) -> usize {
        self.all.len() - self.failed.len()
    }
}

/// The fixture behind our server layer; stopped when dropped.
struct FixtureServer {
    process: Child,
    url: String,
}

impl FixtureServer {
    fn start(program: &Path, cache: &Path) -> Result<Self> {
        let file = cache.join("server-address");
        drop(fs::remove_file(&file));
        let mut process = Command::new(program)
            .arg("server")
            .arg(&file)
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let began = Instant::now();
        loop {
            match fs::read_to_string(&file) {
                Ok(url) if !url.is_empty() => return Ok(Self { process, url }),
                Ok(_) | Err(_) if began.elapsed() < START_WAIT => {
                    std::thread::sleep(Duration::from_millis(20))
                }
                Ok(_) | Err(_) => {
                    process.kill()?;
                    bail!("the fixture server does not start");
                }
            }
        }
    }
}

impl Drop for FixtureServer {
    fn drop(&mut self) {
        if let Err(error) = self.process.kill().and_then(|()| self.process.wait().map(drop)) {
            eprintln!("cannot stop the fixture server (process {}): {error}", self.process.id());
        }
    }
}

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod tests;
