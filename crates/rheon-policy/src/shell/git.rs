//! Recognizes lines that change a git repository with plain git commands.

use rheon_types::event::Danger;

use super::danger::{danger, redirection_danger};
use super::options::has;
use super::table::is_in;
use super::types::{Analysis, SimpleCommand};
use super::wrapper::base_name;

/// What a line does to a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryUse {
    /// No git command changes it.
    Untouched,
    /// Plain git commands change it, and the rest of the line only reads.
    Plain,
    /// It contains a git command, but also other changes or unknown parts.
    Unclear,
}

/// Subcommands that change a repository.
struct Row {
    /// Separated by spaces.
    names: &'static str,
    /// Options that make them run other programs.
    refused: &'static [&'static str],
}

const PLAIN: &[Row] = &[
    Row {
        names: "add commit checkout switch branch stash merge tag reset restore rm mv cherry-pick revert apply am notes",
        refused: &[],
    },
    Row { names: "rebase", refused: &["-x", "--exec", "-i", "--interactive", "--edit-todo"] },
    Row { names: "fetch pull push", refused: &["--upload-pack", "--receive-pack", "--exec"] },
];

const NAMES: [&str; 4] = ["git", "/usr/bin/git", "/bin/git", "/usr/local/bin/git"];

/// Options allowed before a subcommand.
const OPTIONS: &str = "--no-pager -P --no-optional-locks --literal-pathspecs";

/// Options with a value allowed before a subcommand.
const OPTIONS_WITH_VALUE: &str = "-C";

pub fn repository_use(analysis: &Analysis) -> RepositoryUse {
    let is_git = |command: &SimpleCommand| {
        matches!(command.words.first(), Some(Some(name)) if base_name(name) == "git")
            && danger(command).0 != Danger::Safe
    };
    if !analysis.commands.iter().any(is_git) {
        return RepositoryUse::Untouched;
    }
    let only_looks = |command: &SimpleCommand| is_known(command) && danger(command).0 == Danger::Safe;
    let is_plain = analysis.unknown.is_empty()
        && analysis.commands.iter().all(|command| only_looks(command) || changes_repository(command))
        && analysis.redirections.iter().all(|it| redirection_danger(it).0 == Danger::Safe);
    if is_plain { RepositoryUse::Plain } else { RepositoryUse::Unclear }
}

/// Whether a command is a plain git command that changes a repository.
pub fn changes_repository(command: &SimpleCommand) -> bool {
    let words: Vec<Option<&str>> = command.words.iter().map(Option::as_deref).collect();
    let Some((Some(name), mut rest)) = words.split_first() else { return false };
    while let [Some(option), after @ ..] = rest {
        rest = match after {
            _ if is_in(OPTIONS, option) => after,
            [Some(_), after @ ..] if is_in(OPTIONS_WITH_VALUE, option) => after,
            _ => break,
        };
    }
    let [Some(subcommand), arguments @ ..] = rest else { return false };
    let row = PLAIN.iter().find(|row| is_in(row.names, subcommand));
    NAMES.contains(name)
        && is_known(command)
        && danger(command).0 != Danger::Safe
        && row.is_some_and(|row| row.refused.iter().all(|option| !has(arguments, option, "")))
}

/// Whether all words are known and no environment variables are set for it.
fn is_known(command: &SimpleCommand) -> bool {
    command.assignments.is_empty() && command.words.iter().all(Option::is_some)
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
