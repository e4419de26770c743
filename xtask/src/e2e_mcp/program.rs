//! The official clients against `rheon mcp serve`: the inspector and the TypeScript client, over lines and HTTP.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::packages::node;
use crate::command::Invocation;
use crate::fake_model::{FakeModel, target_dir};

/// The model that agents ask.
const MODEL: &str = "anthropic/claude-sonnet-4-5";

/// What programs must send to the server at an address.
const TOKEN: &str = "e2e-token";

/// Runs every client over every transport.
pub(super) fn run(cache: &Path) -> Result<()> {
    Invocation::new("build --locked -p rheon-testkit --bin rheon-fake-model").run()?;
    Invocation::new("build --locked -p rheon-cli").run()?;
    let dir = xtask::walk::root().join("xtask/src/e2e_mcp");
    fs::copy(dir.join("client.mjs"), cache.join("client.mjs")).context("cannot copy the client")?;
    let model = FakeModel::start(&["--script", &dir.join("script.toml").display().to_string()])?;
    let stage = Stage { cache, model };
    let program = target_dir().join("debug/rheon").display().to_string();
    let lines = [program.as_str(), "mcp", "serve", "--model", MODEL];
    let server = HttpServer::start(&stage, &lines)?;
    stage.inspect(&lines)?;
    stage.inspect(&[&server.url, "--header", &format!("Authorization: Bearer {TOKEN}")])?;
    for version in ["2025-11-25", "2026-07-28"] {
        let client = stage.cache.join("client.mjs").display().to_string();
        let stdio: Vec<&str> = [client.as_str(), version, "stdio"].into_iter().chain(lines).collect();
        stage.node(&stdio)?;
        stage.node(&[client.as_str(), version, "http", &server.url])?;
    }
    Ok(())
}

/// A home and a workspace, and a model.
struct Stage<'a> {
    cache: &'a Path,
    model: FakeModel,
}

impl Stage<'_> {
    /// An empty workspace and home.
    fn clear(&self) -> Result<PathBuf> {
        let stage = self.cache.join("program-stage");
        if stage.exists() {
            fs::remove_dir_all(&stage).context("cannot remove a stage")?;
        }
        for dir in ["home", "workspace"] {
            fs::create_dir_all(stage.join(dir)).context("cannot create a stage")?;
        }
        Ok(stage)
    }

    fn command(&self, program: &Path, stage: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", stage.join("home"))
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("RHEON_MCP_TOKEN", TOKEN)
            .current_dir(stage.join("workspace"));
        command
    }

    /// Runs a script of a client; it fails if the script does.
    fn node(&self, arguments: &[&str]) -> Result<String> {
        let stage = self.cache.join("program-stage");
        drop(fs::remove_file(stage.join("workspace/output.txt")));
        let mut command = self.command(&node(self.cache), &stage);
        let output = command.args(arguments).output().context("cannot start node")?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        print!("{said}");
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{arguments:?} failed:\n{errors}");
        Ok(said)
    }

    /// The inspector lists the tools and runs an agent.
    fn inspect(&self, target: &[&str]) -> Result<()> {
        let inspector = self.cache.join("node_modules/.bin/mcp-inspector").display().to_string();
        let run = |method: &[&str]| {
            let arguments: Vec<&str> =
                [inspector.as_str(), "--cli"].iter().chain(target).chain(method).copied().collect();
            self.node(&arguments)
        };
        let listed = run(&["--method", "tools/list"])?;
        ensure!(listed.contains("run_agent"), "the inspector does not see run_agent");
        let call = ["--method", "tools/call", "--tool-name", "run_agent", "--tool-arg", "prompt=Hello"];
        ensure!(run(&call)?.contains("All done."), "the inspector cannot run an agent");
        Ok(())
    }
}

/// `rheon mcp serve` at an address; stopped when dropped.
struct HttpServer {
    process: Child,
    url: String,
}

impl HttpServer {
    fn start(stage: &Stage<'_>, lines: &[&str]) -> Result<Self> {
        let dir = stage.clear()?;
        let mut words = lines.iter();
        let program = words.next().context("there is no program")?;
        let mut process = stage
            .command(Path::new(program), &dir)
            .args(words)
            .args(["--port", "0"])
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start rheon mcp serve")?;
        let mut line = String::new();
        if let Some(errors) = process.stderr.take() {
            let mut errors = BufReader::new(errors);
            errors.read_line(&mut line).context("cannot read the address of the server")?;
            std::thread::spawn(move || {
                errors.lines().map_while(Result::ok).for_each(|line| eprintln!("{line}"))
            });
        }
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap_or_default();
        let server = Self { process, url: url.to_owned() };
        ensure!(!server.url.is_empty(), "rheon mcp serve says no address, but: {line:?}");
        Ok(server)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if let Err(error) = self.process.kill().and_then(|()| self.process.wait().map(drop)) {
            eprintln!("cannot stop rheon mcp serve (process {}): {error}", self.process.id());
        }
    }
}
