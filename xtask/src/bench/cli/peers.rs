//! The agents that people use instead: those that are installed, or all of them where that is asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::agent::{Agent, Kind};
use crate::bench::process::target;

/// What npm is asked for, in the versions that were measured last.
const PACKAGES: [&str; 5] = [
    "node@22",
    "@anthropic-ai/claude-code@2.1.325",
    "@openai/codex@0.166.0",
    "opencode-ai@1.18.33",
    "@earendil-works/pi-coding-agent@0.87.1",
];

/// The agents: their names, and where their programs may be below the directory that npm installs to. A program of its own goes before
/// the script that starts it.
const AGENTS: [(&str, Kind, &[&str]); 4] = [
    ("claude", Kind::Claude, &["@anthropic-ai/claude-code-*/claude"]),
    ("codex", Kind::Codex, &["@openai/codex-*/vendor/*/bin/codex"]),
    ("opencode", Kind::OpenCode, &["opencode-*/bin/opencode"]),
    ("pi", Kind::Pi, &["@earendil-works/pi-coding-agent/dist/bundle/cli.js"]),
];

/// Those that are installed, in the target directory or in the path. What is missing is said.
pub(super) fn found(install_first: bool) -> Result<Vec<Agent>> {
    let dir = target("peers");
    if install_first {
        install(&dir)?;
    }
    let modules = dir.join("node_modules");
    let mut agents = Vec::new();
    for (name, kind, places) in AGENTS {
        let inside = places.iter().find_map(|place| below(&modules, place));
        let program = match inside {
            Some(script) if script.extension().is_some_and(|extension| extension == "js") => {
                let node = modules.join("node/bin/node");
                Some(vec![if node.is_file() { node } else { "node".into() }, script])
            }
            Some(program) => Some(vec![program]),
            None => in_path(name).map(|program| vec![program]),
        };
        match program {
            Some(program) => agents.push(Agent { name, kind, program }),
            None => println!("== {name} is not installed and left out; --peers installs it"),
        }
    }
    Ok(agents)
}

fn install(dir: &Path) -> Result<()> {
    println!("== npm install {}", PACKAGES.join(" "));
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let status = Command::new("npm")
        .args(["install", "--no-fund", "--no-audit", "--loglevel", "error", "--prefix"])
        .arg(dir)
        .args(PACKAGES)
        .status()
        .context("npm is needed to install other agents (Debian: `apt install npm`)")?;
    ensure!(status.success(), "npm could not install the other agents ({status}); see its words above");
    Ok(())
}

/// The file below `dir` at a place whose parts may end with or be `*`.
fn below(dir: &Path, place: &str) -> Option<PathBuf> {
    let Some((part, rest)) = place.split_once('/') else {
        return Some(dir.join(place)).filter(|path| path.is_file());
    };
    let Some(beginning) = part.strip_suffix('*') else { return below(&dir.join(part), rest) };
    let entries = fs::read_dir(dir).ok()?.flatten();
    let mut names: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning))
        .map(|entry| entry.path())
        .collect();
    names.sort();
    names.iter().find_map(|dir| below(dir, rest))
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
#[path = "peers_tests.rs"]
mod tests;
