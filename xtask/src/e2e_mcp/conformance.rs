//! The official conformance suite, through our client and our server.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::packages::node;
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
    let suite = Suite { cache };
    for revision in REVISIONS {
        let client = suite.client(&format!("{} client", program.display()), revision)?;
        let server = suite.server(&server.url, revision)?;
        for (side, outcome) in [("client", client), ("server", server)] {
            if outcome.all.is_empty() || !outcome.failed.is_empty() {
                problems.push(format!("{side} at {revision}: {:?}", outcome.failed));
            }
            failing.extend(outcome.extensions_failed.iter().map(|name| format!("{revision} {side} {name}")));
            rows.push(outcome.row(revision, side));
        }
    }
    println!("\n| revision | side | required scenarios | extensions and newer |\n|---|---|---|---|");
    println!("{}\n", rows.join("\n"));
    ensure!(problems.is_empty(), "required scenarios fail: {}; see {}", problems.join("; "), cache.display());
    let baseline: BTreeSet<String> = BASELINE.lines().map(str::to_owned).collect();
    let (new, old): (Vec<_>, Vec<_>) =
        (failing.difference(&baseline).collect(), baseline.difference(&failing).collect());
    ensure!(new.is_empty() && old.is_empty(), "the baseline changed: fails now {new:?}, works now {old:?}");
    Ok(())
}

/// The installed suite.
struct Suite<'a> {
    cache: &'a Path,
}

impl Suite<'_> {
    /// What the suite says; also kept in a log.
    fn say(&self, log: &str, arguments: &[&str]) -> Result<String> {
        let output = Command::new(node(self.cache))
            .arg(self.cache.join("node_modules/.bin/conformance"))
            .args(arguments)
            .current_dir(self.cache)
            .output()
            .context("cannot start the conformance suite")?;
        let said =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let file = self.cache.join("logs").join(format!("{}.log", log.replace('/', "-")));
        fs::create_dir_all(self.cache.join("logs")).context("cannot create the directory of logs")?;
        fs::write(&file, &said).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(said)
    }

    fn server(&self, url: &str, revision: &str) -> Result<SuiteOutcome> {
        println!("== e2e-mcp: the server at {revision}");
        let said =
            self.say(&format!("server-{revision}"), &["server", "--url", url, "--requirements", revision])?;
        Ok(SuiteOutcome::parse(&said))
    }

    /// One scenario after the other: the suite would start all clients at once, and slow machines would time out.
    fn client(&self, command: &str, revision: &str) -> Result<SuiteOutcome> {
        println!("== e2e-mcp: the client at {revision}");
        let mut outcome = SuiteOutcome::listed(&self.say("list", &["list", "--requirements", revision])?);
        let names: Vec<String> = outcome.all.iter().chain(&outcome.extensions).cloned().collect();
        for name in names {
            let arguments = ["client", "--command", command, "--scenario", &name, "--spec-version", revision];
            let said = self.say(
                &format!("client-{revision}-{name}"),
                &[&arguments[..], &["--force", "--timeout", "120000"]].concat(),
            )?;
            let result = said.lines().rev().find(|line| line.starts_with("Passed: ")).unwrap_or("no result");
            println!("   {name}: {result}");
            if !result.contains(" 0 failed") {
                let is_required = outcome.all.contains(&name);
                let failed = if is_required { &mut outcome.failed } else { &mut outcome.extensions_failed };
                failed.insert(name);
            }
        }
        Ok(outcome)
    }
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
    /// The scenarios for clients in the suite's list; none has failed yet.
    pub(super) fn listed(said: &str) -> Self {
        let mut outcome = Self::default();
        let mut is_client = false;
        for line in said.lines() {
            if !line.starts_with(' ') {
                is_client = line.starts_with("Client scenarios");
            }
            let Some(name) = line.trim().strip_prefix("- ") else { continue };
            match name.strip_suffix(" [client]") {
                Some(name) => drop(outcome.extensions.insert(name.to_owned())),
                None if is_client => drop(outcome.all.insert(name.to_owned())),
                None => {}
            }
        }
        outcome
    }

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

    /// A row of the table.
    fn row(&self, revision: &str, side: &str) -> String {
        let passed = |all: &BTreeSet<String>, failed: &BTreeSet<String>| {
            format!("{} of {}", all.len() - failed.len(), all.len())
        };
        let required = passed(&self.all, &self.failed);
        format!(
            "| {revision} | {side} | {required} | {} |",
            passed(&self.extensions, &self.extensions_failed)
        )
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
