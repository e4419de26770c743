//! `/permissions`: shows and changes the rules of the session.

use rheon_policy::mode_name;
use rheon_types::ClientError;
use rheon_types::event::{RuleAction, RuleList, RulesChange, Scope};
use rheon_types::protocol::{Ack, Command};

use super::super::open::OpenSession;
use super::outcome::Slash;

const USAGE: &str = "use /permissions allow RULE, ask RULE, deny RULE or remove RULE, as in /permissions allow Bash(npm test *)";

/// Shows the rules, or changes one for this session.
pub(super) fn answer(session: &OpenSession, arguments: &str) -> Result<Slash, ClientError> {
    if arguments.is_empty() {
        return Ok(Slash::Done(Ack { notes: vec![shown(session)], ..Ack::default() }));
    }
    let (action, rule) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let rule = rule.trim();
    let list = match action {
        "allow" => Some(RuleList::Allow),
        "ask" => Some(RuleList::Ask),
        "deny" => Some(RuleList::Deny),
        _ => None,
    };
    let (action, list) = match (list, action) {
        (Some(list), _) => (RuleAction::Add, list),
        (None, "remove") => {
            let known = session.toolkit.gate().rules().into_iter().find(|known| known.rule == rule);
            let known =
                known.ok_or_else(|| ClientError::invalid(format!("there is no rule {rule:?} to remove")))?;
            (RuleAction::Remove, known.list)
        }
        (None, _) => return Err(ClientError::invalid(USAGE)),
    };
    if rule.is_empty() {
        return Err(ClientError::invalid(USAGE));
    }
    let change = RulesChange { action, list, rules: vec![rule.to_owned()], scope: Scope::Session };
    Ok(Slash::Command(Command::SetRules { change }))
}

fn shown(session: &OpenSession) -> String {
    let gate = session.toolkit.gate();
    let mut lines = vec![format!("mode {}; change it with /mode", mode_name(gate.mode()))];
    let rules = gate.rules();
    for (list, word) in [(RuleList::Deny, "deny"), (RuleList::Ask, "ask"), (RuleList::Allow, "allow")] {
        for rule in rules.iter().filter(|rule| rule.list == list) {
            lines.push(format!("{word:5}  {}  ({})", rule.rule, rule.source));
        }
    }
    if rules.is_empty() {
        lines.push("no rules".into());
    }
    lines.push(format!("{USAGE}; a change holds for this session"));
    lines.join("\n")
}
