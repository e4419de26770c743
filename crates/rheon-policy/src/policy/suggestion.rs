//! The rules that an approval prompt offers to save.

use rheon_types::event::Danger;

use crate::policy::explanation::{Decision, Explanation};
use crate::policy::names::SUBCOMMANDS;
use crate::policy::paths::{NamedPath, PatternRoots};
use crate::policy::policy_set::{BoundRule, RuleSource};
use crate::policy::rule::{RULE_BYTES_MAX, Rule, RuleKind};
use crate::shell::SimpleCommand;
use crate::workspace::Access;

/// Rules that one answer saves.
pub(crate) const RULES_MAX: usize = 5;

/// Words that run whatever follows, so a rule must not end there.
const RUNNERS: [&str; 6] = ["run", "exec", "x", "dlx", "config", "alias"];

/// Programs that run what their arguments say.
const INTERPRETERS: [&str; 22] = [
    "sh", "bash", "zsh", "dash", "fish", "ksh", "python", "python3", "node", "deno", "ruby", "perl", "php",
    "lua", "env", "sudo", "eval", "xargs", "ssh", "npx", "uvx", "bunx",
];

/// The rules that "always" would save, one per line. `None` if they would not cover the whole call.
pub(crate) fn of(explanation: &Explanation) -> Option<String> {
    let mut rules: Vec<&str> = Vec::new();
    for part in explanation.parts.iter().filter(|part| part.decision == Decision::Ask) {
        for rule in part.suggestion.as_deref()?.lines() {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    (!rules.is_empty() && rules.len() <= RULES_MAX).then(|| rules.join("\n"))
}

/// Suggests a rule for a command. `plain` has one space between words. The rule ends after the subcommand, if there is
/// one; otherwise it is the command itself, unless that text could also mean other words.
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

/// Suggests a rule for a path. The path is absolute because user rules apply in every directory.
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

/// A rule for calls like a command: its program and what says what it does, followed by anything.
pub(crate) fn wider(command: &SimpleCommand) -> Option<String> {
    let words: Vec<&str> = command.words.iter().map_while(Option::as_deref).collect();
    let name = words.first()?;
    let count = match words.get(1..) {
        // `python3 -m unittest`
        Some(["-m", module, ..]) if name.starts_with("python") && is_name(module) => 3,
        // What an interpreter runs is everything, unless it is a script.
        Some([script, ..]) if INTERPRETERS.contains(name) => {
            if script.starts_with('-') {
                return None;
            }
            2
        }
        _ => {
            let plain = words.join(" ");
            let named = SUBCOMMANDS
                .iter()
                .filter(|(name, _)| *name == plain || plain.starts_with(&format!("{name} ")))
                .map(|(_, count)| *count);
            named.max().unwrap_or(1)
        }
    };
    let prefix = words.get(..count.min(words.len()))?;
    let is_clear = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:./@+".contains(c));
    let runs_anything =
        prefix.last().is_some_and(|last| RUNNERS.contains(last) || INTERPRETERS.contains(last));
    let is_usable = prefix.iter().all(is_clear) && prefix.len() == count && !runs_anything;
    if is_usable { usable(format!("Bash({} *)", prefix.join(" "))) } else { None }
}

/// The rule for all edits in the directory of a file.
pub(crate) fn of_dir(path: &NamedPath) -> Option<String> {
    if path.access == Access::Read || !path.inside || path.written != path.real || path.protected {
        return None;
    }
    let dir = path.real.parent()?.to_str()?;
    let is_plain = !dir.contains(['*', '?', '[', ']', '{', '}', '!', '\\']) && dir.len() > 1;
    is_plain.then(|| format!("Edit(/{dir}/**)")).and_then(usable)
}

/// Binds the allow rule `text` to this session.
pub(crate) fn bound(text: &str, roots: &PatternRoots) -> Option<BoundRule> {
    bound_in(text, RuleKind::Allow, roots)
}

/// Binds the rule `text` of the given kind to this session.
pub(crate) fn bound_in(text: &str, list: RuleKind, roots: &PatternRoots) -> Option<BoundRule> {
    let rule = Rule::parse(text, list).ok()?;
    BoundRule::bind(rule, RuleSource::Session, roots, &roots.working_dir).ok()
}

/// Accepts a rule only if it fits on one line.
fn usable(rule: String) -> Option<String> {
    (rule.len() <= RULE_BYTES_MAX && !rule.contains(char::is_control)).then_some(rule)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.chars().all(|character| character.is_ascii_alphanumeric() || "-_:.".contains(character))
}
