//! Which lines change a repository by plain commands of git, told from a table of these.

use rheon_types::event::Danger;

use super::danger::{danger, redirection_danger};
use super::options::has;
use super::table::is_in;
use super::types::{Analysis, SimpleCommand};
use super::wrapper::base_name;

/// What a line does with a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryUse {
    /// It changes none by git.
    Untouched,
    /// It changes it by plain commands of git, and does nothing else but look.
    Plain,
    /// There is a command of git in it, but more than that, or less than all is known.
    Unclear,
}

/// Sub-commands that change a repository.
struct Row {
    /// Their names, with blanks between.
    names: &'static str,
    /// Options with which they are not plain: they run programs.
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

/// Where git is.
const NAMES: [&str; 4] = ["git", "/usr/bin/git", "/bin/git", "/usr/local/bin/git"];

/// What may stand before a sub-command.
const OPTIONS: &str = "--no-pager -P --no-optional-locks --literal-pathspecs";

/// The same with a value.
const OPTIONS_WITH_VALUE: &str = "-C";

/// What a line does with a repository.
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

/// Whether a command is a plain one of git that changes a repository.
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

/// Whether all words are known, and no variables are set for it.
fn is_known(command: &SimpleCommand) -> bool {
    command.assignments.is_empty() && command.words.iter().all(Option::is_some)
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
