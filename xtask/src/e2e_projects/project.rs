//! `Project`: a small project in one text: what it needs, the steps of the agent, and its files.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// What the agent writes, so that there is something to commit.
const NOTES: &str = "# Notes\n\nBuilt, tested and served.\n";

/// A project. Its text has a line per fact, `needs`, `hosts` or a step, then its files, each below `=== PATH`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) name: &'static str,
    /// The programs without which it is skipped.
    needs: Vec<String>,
    /// A shell line that prints the addresses of its registry as its package manager knows them.
    hosts: String,
    pub(super) steps: Vec<Step>,
    files: Vec<ProjectFile>,
}

#[derive(Debug, PartialEq, Eq)]
struct ProjectFile {
    path: String,
    text: String,
}

/// One call of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Run { name: String, command: String, is_background: bool },
    Write { path: String, content: String },
}

impl Step {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Run { name, .. } => name,
            Self::Write { .. } => "edit",
        }
    }
}

impl Project {
    pub(super) fn parse(name: &'static str, text: &str) -> Result<Self> {
        let mut project =
            Self { name, needs: Vec::new(), hosts: String::new(), steps: Vec::new(), files: Vec::new() };
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("=== ") {
                project.files.push(ProjectFile { path: path.to_owned(), text: String::new() });
            } else if let Some(file) = project.files.last_mut() {
                file.text.push_str(line);
                file.text.push('\n');
            } else {
                project.read(line).with_context(|| format!("{name}: {line:?}"))?;
            }
        }
        ensure!(!project.files.is_empty(), "{name}: no files");
        // Before the commit, which is the last step.
        let last = project.steps.len().saturating_sub(1);
        let note = Step::Write { path: "NOTES.md".to_owned(), content: NOTES.to_owned() };
        project.steps.insert(last, note);
        Ok(project)
    }

    fn read(&mut self, line: &str) -> Result<()> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let Some((word, rest)) = line.split_once(' ') else { bail!("a line needs a word and what it is") };
        match word {
            "needs" => self.needs = rest.split_whitespace().map(str::to_owned).collect(),
            "hosts" => self.hosts = rest.to_owned(),
            step => self.steps.push(Step::Run {
                name: step.trim_end_matches('&').to_owned(),
                command: rest.to_owned(),
                is_background: step.ends_with('&'),
            }),
        }
        Ok(())
    }

    /// The first program that is not there.
    pub(super) fn missing(&self) -> Option<&str> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |program: &str| std::env::split_paths(&paths).any(|path| path.join(program).is_file());
        self.needs.iter().map(String::as_str).find(|program| !is_there(program))
    }

    /// Writes its files.
    pub(super) fn write(&self, dir: &Path, port: u16) -> Result<()> {
        for ProjectFile { path, text } in &self.files {
            let path = dir.join(path);
            let parent = path.parent().context("a file without a directory")?;
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
            let text = text.replace("{port}", &port.to_string());
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// The hosts of its registry, as its package manager knows them: a mirror of the user's, say. Read by running it.
    pub(super) fn hosts(&self, dir: &Path) -> Result<Vec<String>> {
        let output = Command::new("sh").args(["-c", &self.hosts]).current_dir(dir).output();
        let output = output.context("cannot start sh")?;
        let mut hosts = hosts_in(&String::from_utf8_lossy(&output.stdout));
        hosts.sort();
        hosts.dedup();
        Ok(hosts)
    }
}

/// The hosts of all addresses in a text.
pub(super) fn hosts_in(text: &str) -> Vec<String> {
    let addresses = text.split("://").skip(1);
    let hosts = addresses.map(|rest| {
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-._:@%".contains(c))).unwrap_or(rest.len());
        let authority = rest.get(..end).unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        host.split(':').next().unwrap_or_default().to_owned()
    });
    hosts.filter(|host| !host.is_empty()).collect()
}
