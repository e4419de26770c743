//! `GitState`: the state of a repository, read with `git` under a short timeout. Its output is not trusted.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use rheon_text::visible;

use super::head::{Head, read_head};
use super::program::{Git, GitEnvironment, GitOutput};

/// How much of the repository state is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitQuestion {
    /// The branch only. Nothing that the repository configures is run.
    Branch,
    /// The branch and what changed. Filters that the repository configures may run, so **only for one that the user trusts**.
    Status,
}

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitState {
    NoRepository,
    /// It is not known, for this reason.
    Unknown(String),
    Branch {
        branch: String,
        /// The changes; none if they were not requested.
        changes: Option<GitChanges>,
    },
}

/// What is not committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitChanges {
    /// The branch that this one follows, with how far ahead and behind it is.
    pub upstream: Option<(String, u64, u64)>,
    /// How many files differ from the last commit.
    pub changed: usize,
    /// How many files or directories git does not know.
    pub untracked: usize,
    pub conflicts: usize,
    /// Whether there was more than is read.
    pub is_cut: bool,
}

/// How long git may take by default.
pub const GIT_TIME_MAX: Duration = Duration::from_secs(2);
const NAME_CHARS_MAX: usize = 200;

const BRANCH: [&str; 4] = ["symbolic-ref", "--quiet", "--short", "HEAD"];
// Submodules have their own settings, which these flags do not change.
const STATUS: [&str; 5] = ["status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=all"];

impl GitState {
    /// The state of the repository around `dir`. If only the branch is needed, it is read from the files where possible; otherwise the
    /// program is asked, the first `git` in an absolute directory of `PATH`.
    /// What takes longer than `time_max` is ended.
    pub async fn ask(
        dir: &Path,
        environment: &GitEnvironment,
        question: GitQuestion,
        time_max: Duration,
    ) -> Self {
        let has_repository = dir.ancestors().any(|dir| dir.join(".git").symlink_metadata().is_ok());
        if !has_repository {
            return Self::NoRepository;
        }
        if let (GitQuestion::Branch, Some(head)) = (question, read_head(dir)) {
            let branch = match head {
                Head::Branch(branch) => short(&branch),
                Head::Commit => DETACHED.to_owned(),
            };
            return Self::Branch { branch, changes: None };
        }
        let arguments: &[&str] = match question {
            GitQuestion::Branch => &BRANCH,
            GitQuestion::Status => &STATUS,
        };
        let git = Git { dir, environment, time_max, settings: &[] };
        match git.run(arguments).await {
            Ok(output) => read(&output, question),
            Err(trouble) => Self::Unknown(trouble.to_string()),
        }
    }
}

fn read(said: &GitOutput, question: GitQuestion) -> GitState {
    match (question, said.code) {
        (GitQuestion::Branch, Some(0)) => {
            let branch = short(String::from_utf8_lossy(&said.output).trim());
            GitState::Branch { branch, changes: None }
        }
        (GitQuestion::Branch, Some(1)) => GitState::Branch { branch: DETACHED.into(), changes: None },
        (GitQuestion::Status, code) if code == Some(0) || said.is_cut => status(said),
        (GitQuestion::Branch | GitQuestion::Status, _) => {
            let errors = String::from_utf8_lossy(&said.errors);
            let why = errors.lines().next().unwrap_or("no error message");
            GitState::Unknown(format!("git fails: {}", short(why)))
        }
    }
}

const DETACHED: &str = "(none, a commit is checked out)";

fn status(said: &GitOutput) -> GitState {
    let output = String::from_utf8_lossy(&said.output);
    let mut branch = "?".to_owned();
    let mut upstream = None;
    let mut counts = (0, 0);
    let mut changes = GitChanges { is_cut: said.is_cut, ..GitChanges::default() };
    let mut records = output.split('\0');
    while let Some(record) = records.next() {
        match record.split_once(' ') {
            Some(("#", header)) => match header.split_once(' ') {
                Some(("branch.head", "(detached)")) => branch = DETACHED.to_owned(),
                Some(("branch.head", name)) => branch = short(name),
                Some(("branch.upstream", name)) => upstream = Some(short(name)),
                Some(("branch.ab", both)) => counts = ahead_behind(both),
                Some(_) | None => {}
            },
            Some(("1", _)) => changes.changed += 1,
            Some(("2", _)) => {
                changes.changed += 1;
                // Where it was before it was renamed.
                records.next();
            }
            Some(("u", _)) => changes.conflicts += 1,
            Some(("?", _)) => changes.untracked += 1,
            Some(_) | None => {}
        }
    }
    changes.upstream = upstream.map(|name| (name, counts.0, counts.1));
    GitState::Branch { branch, changes: Some(changes) }
}

/// `+1 -2` as figures.
fn ahead_behind(both: &str) -> (u64, u64) {
    let (ahead, behind) = both.split_once(' ').unwrap_or((both, ""));
    let figure = |text: &str| text.trim_start_matches(['+', '-']).parse().unwrap_or_default();
    (figure(ahead), figure(behind))
}

/// `text` on one line, with nothing hidden in it.
fn short(text: &str) -> String {
    visible(&text.chars().take(NAME_CHARS_MAX).collect::<String>())
}

impl fmt::Display for GitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRepository => f.write_str("not a repository"),
            Self::Unknown(why) => write!(f, "unknown ({why})"),
            Self::Branch { branch, changes } => {
                write!(f, "branch {branch}")?;
                changes.as_ref().map_or(Ok(()), |changes| write!(f, "; {changes}"))
            }
        }
    }
}

impl fmt::Display for GitChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts =
            [(self.changed, "changed"), (self.untracked, "untracked"), (self.conflicts, "in conflict")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        match (words.is_empty(), self.is_cut) {
            (true, _) => f.write_str("clean")?,
            (false, false) => f.write_str(&words.join(", "))?,
            (false, true) => write!(f, "more than {}", words.join(", "))?,
        }
        match &self.upstream {
            None | Some((_, 0, 0)) => Ok(()),
            Some((name, ahead, behind)) => write!(f, "; {ahead} ahead of and {behind} behind {name}"),
        }
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
