//! Whether a line may change the repository, and what the model is told if it could not.

use rheon_policy::shell::{Analysis, RepositoryUse, analyze, repository_use};
use rheon_sandbox::process::{EndReason, Launcher, Output, ProcessOutcome};
use rheon_sandbox::{Level, Sandbox};

/// What of the repository is open to a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repository {
    /// It does not matter.
    Unused,
    /// All but settings and hooks.
    Open,
    /// Nothing: the line does more than git, or not all of it is known.
    Unclear,
    /// Nothing: there is none that could be opened, for this reason.
    Elsewhere(String),
}

/// What starts a line, and what of the repository is open to it. Whoever lets a line run lets it do what it says, so that
/// nothing but the line decides: the gate has no default that allows one which changes a repository.
///
/// `analysis` is what the gate found out about the line; where none was asked, the line is analysed here.
pub(super) fn launcher(sandbox: &Sandbox, line: &str, analysis: Option<&Analysis>) -> (Launcher, Repository) {
    let using = match analysis {
        // Most lines have nothing to do with it.
        _ if !line.contains("git") => RepositoryUse::Untouched,
        Some(analysis) => repository_use(analysis),
        None => repository_use(&analyze(line)),
    };
    match using {
        RepositoryUse::Untouched => (sandbox.launcher(), Repository::Unused),
        RepositoryUse::Unclear => (sandbox.launcher(), Repository::Unclear),
        RepositoryUse::Plain => match sandbox.git_launcher() {
            Ok(launcher) => (launcher, Repository::Open),
            Err(why) => (sandbox.launcher(), Repository::Elsewhere(why)),
        },
    }
}

/// How programs say that they met what is closed.
const REFUSALS: [&str; 2] = ["Read-only file system", "Device or resource busy"];

impl Repository {
    /// What to do next, for a line that failed at what is closed.
    pub(super) fn advice(&self, level: Level, ended: &ProcessOutcome, output: &Output) -> Option<String> {
        if level != Level::Namespaces || ended.end != EndReason::Finished {
            return None;
        }
        let texts = [Some(&output.head), output.tail.as_ref()];
        let was_refused =
            || REFUSALS.iter().any(|refusal| texts.iter().flatten().any(|text| text.contains(refusal)));
        let advice = match self {
            Self::Open if was_refused() => include_str!("git_shut.md").to_owned(),
            Self::Unclear if was_refused() => include_str!("git_unclear.md").to_owned(),
            // What is elsewhere may not even be seen.
            Self::Elsewhere(why) if ended.exit_code != Some(0) => {
                include_str!("git_elsewhere.md").replace("{why}", why)
            }
            Self::Unused | Self::Open | Self::Unclear | Self::Elsewhere(_) => return None,
        };
        Some(advice.trim_end().to_owned())
    }
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
