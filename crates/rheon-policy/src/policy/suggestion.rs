//! Rules that are offered with a question, so that it need not be asked again.

use rheon_types::event::Danger;

use crate::policy::explanation::{Decision, Explanation};
use crate::policy::names::SUBCOMMANDS;
use crate::policy::paths::{NamedPath, PatternRoots};
use crate::policy::policy_set::{BoundRule, RuleSource};
use crate::policy::rule::{RULE_BYTES_MAX, Rule, RuleKind};
use crate::shell::SimpleCommand;
use crate::workspace::Access;

/// The most rules that one answer saves.
pub(crate) const RULES_MAX: usize = 5;

/// Words after which anything may follow, so that a rule must not end there.
const RUNNERS: [&str; 6] = ["run", "exec", "x", "dlx", "config", "alias"];

/// The rules that "always" would save, one a line; nothing where they would not answer the whole question.
pub(crate) fn of(explanation: &Explanation) -> Option<String> {
    let mut rules: Vec<&str> = Vec::new();
    for part in explanation.parts.iter().filter(|part| part.decision == Decision::Ask) {
        let rule = part.suggestion.as_deref()?;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    (!rules.is_empty() && rules.len() <= RULES_MAX).then(|| rules.join("\n"))
}

/// A rule for a command, `plain` with one space between its words: up to its sub-command, where it has one; else the
/// command itself, unless its text could mean other words too.
pub(crate) fn of_command(plain: &str, command: &SimpleCommand, danger: Danger) -> Option<String> {
    if danger > Danger::Moderate {
        return None;
    }
    let words: Vec<&str> = plain.split(' ').collect();
    let ambiguous = plain.contains('*') || words.len() != command.words.len();
    let count = SUBCOMMANDS
        .iter()
        .filter(|(name, _)| *name == plain || plain.starts_with(&format!("{name} ")))
        .map(|(_, count)| *count)
        .max();
    let prefix = count.and_then(|count| words.get(..count)).filter(|prefix| {
        prefix.iter().all(|word| is_name(word)) && prefix.last().is_some_and(|last| !RUNNERS.contains(last))
    });
    match prefix {
        Some(prefix) => usable(format!("Bash({} *)", prefix.join(" "))),
        None if ambiguous => None,
        None => usable(format!("Bash({plain})")),
    }
}

/// A rule for a path; by its absolute name, because rules of the user hold everywhere.
pub(crate) fn of_path(path: &NamedPath) -> Option<String> {
    if path.written != path.real {
        return None;
    }
    let tool = match path.access {
        Access::Read => "Read",
        Access::Write => "Edit",
    };
    let mut escaped = String::new();
    for character in path.real.to_str()?.chars() {
        if "*?[]{}!\\".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    usable(format!("{tool}(/{escaped})"))
}

/// The rule `text` as an answer of this session.
pub(crate) fn bound(text: &str, roots: &PatternRoots) -> Option<BoundRule> {
    bound_in(text, RuleKind::Allow, roots)
}

/// The rule `text` of `list` as an answer of this session.
pub(crate) fn bound_in(text: &str, list: RuleKind, roots: &PatternRoots) -> Option<BoundRule> {
    let rule = Rule::parse(text, list).ok()?;
    BoundRule::bind(rule, RuleSource::Session, roots, &roots.working_folder).ok()
}

/// A rule that can be shown and saved in one line.
fn usable(rule: String) -> Option<String> {
    (rule.len() <= RULE_BYTES_MAX && !rule.contains(char::is_control)).then_some(rule)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.chars().all(|character| character.is_ascii_alphanumeric() || "-_:.".contains(character))
}
