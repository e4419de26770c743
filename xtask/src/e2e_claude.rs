//! `cargo xtask e2e-claude`: the real Claude Code resumes our sessions, and we resume its.
//!
//! Opt-in: the first run installs 350 MB into a cache directory. The model is our fake server; nothing leaves the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::command::Invocation;
use crate::fake_model::{FakeModel, target_dir};

/// The program, in the version whose format we write.
const PACKAGE: &str = "@anthropic-ai/claude-code@2.1.325";
/// The session that the real program begins.
const REAL_SESSION: &str = "7f3b6f0e-5a1c-4d2e-9b8a-1c2d3e4f5a6b";

/// Installs what is missing and plays every scenario.
pub(crate) fn run() -> Result<()> {
    let cache = cache_dir();
    println!(
        "== e2e-claude: the program is kept in {} (RHEON_E2E_CACHE names another directory)",
        cache.display()
    );
    let program = install(&cache)?;
    Invocation::new("build --locked -p rheon-testkit --bin rheon-fake-model").run()?;
    Invocation::new("build --locked -p rheon-store --example e2e_claude").run()?;
    for scenario in ["plain", "compacted"] {
        println!("== e2e-claude: the real program resumes a session of ours ({scenario})");
        let stage = Stage::new(&cache, scenario, &program)?;
        let id = stage.ours(&["write", &stage.projects(), &stage.cwd(), scenario])?;
        stage.real(&["--resume", &id, "hi"], 0)?;
        stage.ours(&["request", &stage.log(), scenario])?;
        if scenario == "plain" {
            println!("{}", stage.ours(&["session", &stage.projects(), &id, scenario])?);
        }
    }
    println!("== e2e-claude: we read and continue a session of the real program, and it resumes that");
    let stage = Stage::new(&cache, "real", &program)?;
    stage.real(&["--session-id", REAL_SESSION, "two tools"], 2)?;
    stage.ours(&["session", &stage.projects(), REAL_SESSION, "real"])?;
    stage.ours(&["append", &stage.projects(), &stage.cwd(), REAL_SESSION])?;
    stage.real(&["--resume", REAL_SESSION, "hi"], 0)?;
    stage.ours(&["request", &stage.log(), "continued"])?;
    let cases = stage.ours(&["odd"])?;
    println!("== e2e-claude: both read {} odd transcripts the same way", cases.lines().count());
    for case in cases.lines() {
        let stage = Stage::new(&cache, "odd", &program)?;
        stage.ours(&["odd", "write", &stage.projects(), &stage.cwd(), REAL_SESSION, case])?;
        stage.real(&["--resume", REAL_SESSION, "hi"], 0).with_context(|| format!("odd transcript {case}"))?;
        stage.ours(&["odd", "compare", &stage.log(), case])?;
    }
    println!("== e2e-claude: all is well");
    Ok(())
}

/// `RHEON_E2E_CACHE`, or a directory in cargo's target directory.
fn cache_dir() -> PathBuf {
    match std::env::var_os("RHEON_E2E_CACHE") {
        Some(dir) => xtask::walk::root().join(dir).join("claude"),
        None => target_dir().join("e2e-claude"),
    }
}

/// The program, downloaded unless it is there. Its package for this machine holds it whole, so no script of the package
/// has to run and no Node is needed beside npm.
fn install(cache: &Path) -> Result<PathBuf> {
    if let Some(program) = installed(cache) {
        return Ok(program);
    }
    let npm = Command::new("npm").arg("--version").output();
    ensure!(
        npm.is_ok_and(|output| output.status.success()),
        "npm is needed to download {PACKAGE}; install it (Debian: `apt install npm`) and try again"
    );
    println!("== e2e-claude: downloading {PACKAGE}");
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let status = Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-fund", "--no-audit", "--loglevel", "error", "--prefix"])
        .arg(cache)
        .arg(PACKAGE)
        .status()
        .context("cannot start npm")?;
    ensure!(
        status.success(),
        "npm could not install {PACKAGE} ({status}); see its words above and try again"
    );
    installed(cache).with_context(|| format!("{PACKAGE} has no program for this machine"))
}

/// The program in the package for this machine.
fn installed(cache: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(cache.join("node_modules/@anthropic-ai")).ok()?;
    packages.flatten().map(|package| package.path().join("claude")).find(|program| program.is_file())
}

/// A home and a workspace of its own for one scenario.
struct Stage {
    dir: PathBuf,
    program: PathBuf,
}

impl Stage {
    fn new(cache: &Path, scenario: &str, program: &Path) -> Result<Self> {
        let dir = cache.join(format!("stage-{scenario}"));
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
        }
        for part in ["home", "config", "workspace"] {
            fs::create_dir_all(dir.join(part)).context("cannot create a stage")?;
        }
        Ok(Self { dir, program: program.to_owned() })
    }

    fn path(&self, part: &str) -> String {
        self.dir.join(part).display().to_string()
    }

    fn projects(&self) -> String {
        self.path("config/projects")
    }

    fn cwd(&self) -> String {
        self.path("workspace")
    }

    fn log(&self) -> String {
        self.path("requests.jsonl")
    }

    /// Runs our side and gives back what it prints.
    fn ours(&self, arguments: &[&str]) -> Result<String> {
        let example = target_dir().join("debug/examples/e2e_claude");
        let output = Command::new(&example)
            .args(arguments)
            .output()
            .with_context(|| format!("cannot start {}", example.display()))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`e2e_claude {}` failed: {errors}", arguments.join(" "));
        Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
    }

    /// Runs the real program against the fake model, which first asks for tools so many times.
    fn real(&self, arguments: &[&str], tool_turns: usize) -> Result<()> {
        let (log, turns) = (self.log(), tool_turns.to_string());
        let model = FakeModel::start(&["--log", &log, "--tool-turns", &turns])?;
        let output = Command::new(&self.program)
            .args(["-p", "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"])
            .args(arguments)
            .current_dir(self.cwd())
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("CLAUDE_CONFIG_DIR", self.path("config"))
            .env("ANTHROPIC_BASE_URL", model.url())
            .env("ANTHROPIC_API_KEY", "any")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // The workspace is empty and the model is a script; without this the program refuses to run as root.
            .env("IS_SANDBOX", "1")
            .output()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() || said.trim() != "All done." {
            bail!("the real program ended with {} and said: {said}\n{errors}", output.status);
        }
        Ok(())
    }
}
