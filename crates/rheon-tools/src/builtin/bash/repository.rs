//! Decides whether a command may change the git repository, and what to tell the model if it could not.

use rheon_policy::shell::{Analysis, RepositoryUse, analyze, repository_use};
use rheon_sandbox::process::{EndReason, Launcher, Output, ProcessOutcome};
use rheon_sandbox::{Level, SandboxCall};

/// A command's access to the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RepositoryAccess {
    /// The command does not use it.
    NotUsed,
    /// Everything except config and hooks.
    Writable,
    /// The command does more than plain git, or is not fully understood.
    ReadOnly,
    /// There is no repository that could be opened, for this reason.
    Unavailable(String),
}

/// The launcher of a command, and its access to the repository. Only the command itself decides: the gate never allows
/// a command that changes a repository by default.
///
/// `analysis` is the gate's analysis of the command. Without a gate, the command is analyzed here.
pub(super) fn launcher(
    sandbox: &SandboxCall,
    line: &str,
    analysis: Option<&Analysis>,
) -> (Launcher, RepositoryAccess) {
    let usage = match analysis {
        // Most commands do not use git.
        _ if !line.contains("git") => RepositoryUse::Untouched,
        Some(analysis) => repository_use(analysis),
        None => repository_use(&analyze(line)),
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

/// Error messages of programs that hit a closed path.
const REFUSALS: [&str; 2] = ["Read-only file system", "Device or resource busy"];

impl RepositoryAccess {
    /// Advice for a command that failed because a path is closed.
    pub(super) fn advice(&self, level: Level, ended: &ProcessOutcome, output: &Output) -> Option<String> {
        if level != Level::Namespaces || ended.end != EndReason::Finished {
            return None;
        }
        let texts = [Some(&output.head), output.tail.as_ref()];
        let was_refused =
            || REFUSALS.iter().any(|refusal| texts.iter().flatten().any(|text| text.contains(refusal)));
        let advice = match self {
            Self::Writable if was_refused() => include_str!("git_closed.md").to_owned(),
            Self::ReadOnly if was_refused() => include_str!("git_unclear.md").to_owned(),
            // A repository elsewhere may not even be visible.
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
