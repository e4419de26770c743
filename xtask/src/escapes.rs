//! `cargo xtask escapes`: every known way out of the sandbox, at every level of this machine, as root and as an ordinary user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The tests that try the ways: the package and the name of the test.
const TESTS: [(&str, &str); 2] = [
    ("rheon-tools", "sandbox_escapes::no_command_escapes_the_sandbox"),
    ("rheon", "escapes::a_model_that_tries_fifty_ways_out_of_the_workspace_finds_none"),
];

/// A user that owns nothing.
const ORDINARY_USER: u32 = 65_534;

/// Who tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tester {
    Root,
    Ordinary,
}

impl Tester {
    fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Ordinary => "ordinary user",
        }
    }
}

/// What one tester found at one level.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Finding {
    Tried { ways: u32, open: u32 },
    NotTried(String),
}

/// The findings by level, in the order of the tests.
#[derive(Debug, Default, PartialEq, Eq)]
struct Findings {
    levels: Vec<String>,
    found: BTreeMap<(String, Tester), Finding>,
}

/// Builds the tests, runs them as each user, prints the table, and fails if a way was open.
pub(crate) fn run() -> Result<()> {
    let programs = build()?;
    let is_root = is_root();
    let testers: &[Tester] = if is_root { &[Tester::Root, Tester::Ordinary] } else { &[Tester::Ordinary] };
    let mut findings = Findings::default();
    let mut failures = Vec::new();
    for tester in testers {
        let place = Place::new(*tester, is_root)?;
        for (program, (_, test)) in programs.iter().zip(TESTS) {
            println!("== {test} as {}", tester.name());
            let (output, passed) = place.run(program, test)?;
            findings.read(&output, *tester);
            if !passed {
                println!("{output}");
                failures.push(format!("{test} as {}", tester.name()));
            }
        }
    }
    println!("\n{}", findings.table());
    if !is_root {
        println!("\nRun it as root to try both users.");
    }
    if !failures.is_empty() || findings.open() > 0 {
        bail!("{} ways are open; failed: {}", findings.open(), failures.join(", "));
    }
    Ok(())
}

/// Builds the integration tests and returns the program of each package in [`TESTS`]. All packages are built together, as the
/// usual tests are, so that nothing is compiled twice.
fn build() -> Result<Vec<PathBuf>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--workspace", "--locked", "--test", "it", "--no-run", "--message-format", "json"])
        .current_dir(xtask::walk::root())
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cannot build the tests");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let program = |package: &str| {
        executable(&messages, package).with_context(|| format!("cargo named no test program of {package}"))
    };
    TESTS.iter().map(|(package, _)| program(package)).collect()
}

/// The program that cargo built for the integration tests of a package.
fn executable(messages: &str, package: &str) -> Option<PathBuf> {
    let dir = format!("/crates/{package}#");
    let built = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    built
        .filter(|message| {
            message.get("package_id").and_then(|id| id.as_str()).is_some_and(|id| id.contains(&dir))
        })
        .find_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
}

/// A directory of the user who tries, with a copy of the program: other users cannot read the target directory. It is not
/// below `/tmp`, where commands see another directory.
struct Place {
    dir: PathBuf,
    tester: Tester,
    changes_user: bool,
}

impl Place {
    fn new(tester: Tester, is_root: bool) -> Result<Self> {
        let parent = if is_root { PathBuf::from("/var") } else { std::env::temp_dir() };
        let word = if tester == Tester::Root { "root" } else { "user" };
        let dir = parent.join(format!("rheon-escapes-{}-{word}", std::process::id()));
        std::fs::create_dir(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let changes_user = is_root && tester == Tester::Ordinary;
        let place = Self { dir, tester, changes_user };
        if changes_user {
            std::os::unix::fs::chown(&place.dir, Some(ORDINARY_USER), Some(ORDINARY_USER))?;
        }
        Ok(place)
    }

    /// Runs a test. Returns what it printed and whether it passed.
    fn run(&self, program: &Path, test: &str) -> Result<(String, bool)> {
        use std::os::unix::process::CommandExt as _;
        let copy = self.dir.join(program.file_name().context("a program has a name")?);
        std::fs::copy(program, &copy).with_context(|| format!("cannot copy {}", program.display()))?;
        let mut command = Command::new(&copy);
        command.args(["--exact", test, "--nocapture", "--test-threads", "1"]);
        command.current_dir(&self.dir).env("TMPDIR", &self.dir).env("HOME", &self.dir);
        if self.changes_user {
            // The standard library leaves the groups of root, too.
            command.uid(ORDINARY_USER).gid(ORDINARY_USER);
        }
        let output =
            command.output().with_context(|| format!("cannot start the tests as {}", self.tester.name()))?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok((text, output.status.success()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What is left is a copy of a program in a directory that says whose it is.
        drop(std::fs::remove_dir_all(&self.dir));
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0)
}

impl Findings {
    /// Reads the lines that the tests print for this task: `escapes`, a level, and either two numbers or a reason.
    fn read(&mut self, output: &str, tester: Tester) {
        for line in output.lines() {
            // The test runner may have printed something before it.
            let Some((_, line)) = line.split_once("escapes\t") else { continue };
            let words: Vec<&str> = line.split('\t').collect();
            let (level, finding) = match words.as_slice() {
                [level, ways, open] => match (ways.parse(), open.parse()) {
                    (Ok(ways), Ok(open)) => (*level, Finding::Tried { ways, open }),
                    _ => continue,
                },
                [level, reason] => (*level, Finding::NotTried((*reason).to_owned())),
                _ => continue,
            };
            if !self.levels.iter().any(|known| known == level) {
                self.levels.push(level.to_owned());
            }
            self.found.insert((level.to_owned(), tester), finding);
        }
    }

    fn open(&self) -> u32 {
        let open = |finding: &Finding| match finding {
            Finding::Tried { open, .. } => *open,
            Finding::NotTried(_) => 0,
        };
        self.found.values().map(open).sum()
    }

    /// One row for each level, one column for each user.
    fn table(&self) -> String {
        let mut lines = vec!["| level | root | ordinary user |".to_owned(), "|---|---|---|".to_owned()];
        for level in &self.levels {
            let shown = |tester| match self.found.get(&(level.clone(), tester)) {
                Some(Finding::Tried { ways, open }) => format!("{ways} ways tried, {open} open"),
                Some(Finding::NotTried(reason)) => reason.clone(),
                None => "not tried".to_owned(),
            };
            lines.push(format!("| {level} | {} | {} |", shown(Tester::Root), shown(Tester::Ordinary)));
        }
        let tried = |finding: &Finding| match finding {
            Finding::Tried { ways, .. } => *ways,
            Finding::NotTried(_) => 0,
        };
        let ways: u32 = self.found.values().map(tried).sum();
        lines.push(format!("\n{ways} ways tried, {} open.", self.open()));
        lines.join("\n")
    }
}

#[cfg(test)]
#[path = "escapes_tests.rs"]
mod tests;
