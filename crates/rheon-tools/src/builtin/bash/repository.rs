//! Whether a line may change the repository, and what the model is told if it could not.

use rheon_policy::shell::{Analysis, RepositoryUse, analyse, repository_use};
use rheon_sandbox::process::{End, Ended, Launcher, Output};
use rheon_sandbox::{Level, Sandbox};

/// What of the repository is open to a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RepositoryAccess {
    /// It does not matter.
    NotUsed,
    /// All but settings and hooks.
    Writable,
    /// Nothing: the line does more than git, or not all of it is known.
    ReadOnly,
    /// Nothing: there is none that could be opened, for this reason.
    Unavailable(String),
}

/// What starts a line, and what of the repository is open to it. Whoever lets a line run lets it do what it says, so that
/// nothing but the line decides: the gate has no default that allows one which changes a repository.
///
/// `analysis` is what the gate found out about the line; where none was asked, the line is analysed here.
pub(super) fn launcher(
    sandbox: &Sandbox,
    line: &str,
    analysis: Option<&Analysis>,
) -> (Launcher, RepositoryAccess) {
    let usage = match analysis {
        // Most lines have nothing to do with it.
        _ if !line.contains("git") => RepositoryUse::Untouched,
        Some(analysis) => repository_use(analysis),
        None => repository_use(&analyse(line)),
    };
    match usage {
        RepositoryUse::Untouched => (sandbox.launcher(), RepositoryAccess::NotUsed),
        RepositoryUse::Unclear => (sandbox.launcher(), RepositoryAccess::ReadOnly),
        RepositoryUse::Plain => match sandbox.git_launcher() {
            Ok(launcher) => (launcher, RepositoryAccess::Writable),
            Err(reason) => (sandbox.launcher(), RepositoryAccess::Unavailable(reason)),
        },
    }
}

/// How programs say that they met what is closed.
const REFUSALS: [&str; 2] = ["Read-only file system", "Device or resource busy"];

impl RepositoryAccess {
    /// What to do next, for a line that failed at what is closed.
    pub(super) fn advice(&self, level: Level, ended: &Ended, output: &Output) -> Option<String> {
        if level != Level::Namespaces || ended.end != End::Finished {
            return None;
        }
        let texts = [Some(&output.head), output.tail.as_ref()];
        let was_refused =
            || REFUSALS.iter().any(|refusal| texts.iter().flatten().any(|text| text.contains(refusal)));
        let advice = match self {
            Self::Writable if was_refused() => include_str!("git_closed.md").to_owned(),
            Self::ReadOnly if was_refused() => include_str!("git_unclear.md").to_owned(),
            // What is elsewhere may not even be seen.
            Self::Unavailable(reason) if ended.exit_code != Some(0) => {
                include_str!("git_elsewhere.md").replace("{why}", reason)
            }
            Self::NotUsed | Self::Writable | Self::ReadOnly | Self::Unavailable(_) => return None,
        };
        Some(advice.trim_end().to_owned())
    }
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
