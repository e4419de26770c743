//! The ways to say yes to a call that needs approval.

use rheon_types::event::{ApprovalOffer, Danger};
use rheon_types::{CallGrant, NetworkGrant};

use crate::policy::explanation::{Decision, Explanation, ExplanationPart};
use crate::policy::names::NETWORK_RULE;
use crate::policy::suggestion;

/// The ways to say yes, the plain one first: the call runs with what it needs. Empty if there is only "yes".
pub(crate) fn of(explanation: &Explanation) -> Vec<ApprovalOffer> {
    let asked: Vec<&ExplanationPart> =
        explanation.parts.iter().filter(|part| part.decision == Decision::Ask).collect();
    let grant = explanation.grant(Decision::Ask);
    let suggested: Vec<String> =
        suggestion::of(explanation).iter().flat_map(|rules| rules.lines()).map(str::to_owned).collect();
    let inside = CallGrant { network: NetworkGrant::None, unsandboxed: false, ..grant.clone() };
    let outside = CallGrant { unsandboxed: true, ..CallGrant::default() };
    let mut offers = Vec::new();
    if grant.unsandboxed {
        let rules = rules_for(&asked, |part| part.grant.unsandboxed);
        offers.push(offer("unsandboxed", "Yes, outside the sandbox", outside, rules));
        offers.push(offer("once", "Yes, in the sandbox", inside, Vec::new()));
    } else if !grant.network.is_none() {
        if let NetworkGrant::Hosts(hosts) = &grant.network {
            let rules = hosts.iter().map(|host| format!("{NETWORK_RULE}({host})"));
            let rules = with_command_rules(&asked, rules.collect());
            let label = format!("Yes, with network access to {}", hosts.join(", "));
            offers.push(offer("hosts", &label, grant.clone(), rules));
        }
        let all = CallGrant { network: NetworkGrant::All, ..inside.clone() };
        let rules = with_command_rules(&asked, vec![format!("{NETWORK_RULE}(*)")]);
        offers.push(offer("network", "Yes, with the whole network", all, rules));
        offers.push(offer("once", "Yes, without the network", inside, Vec::new()));
        offers.push(offer("unsandboxed", "Yes, outside the sandbox", outside, Vec::new()));
    } else {
        offers.push(offer("once", "Yes", grant.clone(), suggested));
    }
    offers.extend(wider(&asked));
    let is_plain = offers.len() == 1 && grant.is_empty();
    if is_plain { Vec::new() } else { offers }
}

/// The offer to allow all calls like this one: such commands, or all edits in a directory.
fn wider(asked: &[&ExplanationPart]) -> Option<ApprovalOffer> {
    let rules: Option<Vec<String>> =
        asked.iter().map(|part| part.wider.clone().or(part.suggestion.clone())).collect();
    let mut rules = rules?;
    rules.dedup();
    let has_wider = asked.iter().any(|part| part.wider.is_some() && part.wider != part.suggestion);
    let needs_more = asked.iter().any(|part| !part.grant.network.is_none() || part.grant.unsandboxed);
    let is_critical = asked.iter().any(|part| part.danger == Danger::Critical);
    if !has_wider || needs_more || is_critical || rules.len() > suggestion::RULES_MAX {
        return None;
    }
    let grant = asked.iter().fold(CallGrant::default(), |grant, part| grant.joined(&part.grant));
    let is_edit = rules.iter().all(|rule| rule.starts_with("Edit("));
    let (id, label) = match is_edit {
        true => ("folder", format!("Yes, and all edits there: {}", rules.join(", "))),
        false => ("such", format!("Yes, and such calls: {}", rules.join(", "))),
    };
    Some(offer(id, &label, grant, rules))
}

/// `rules`, after those that allow the commands themselves. None if a command cannot be allowed by a rule, because a rule
/// about the rest would not help.
fn with_command_rules(asked: &[&ExplanationPart], rules: Vec<String>) -> Vec<String> {
    let commands = asked.iter().filter(|part| part.grant.network.is_none());
    let commands: Option<Vec<String>> =
        commands.map(|part| part.wider.clone().or(part.suggestion.clone())).collect();
    match commands {
        Some(mut commands) => {
            commands.extend(rules);
            commands.dedup();
            commands
        }
        None => Vec::new(),
    }
}

fn rules_for(asked: &[&ExplanationPart], is_about: impl Fn(&ExplanationPart) -> bool) -> Vec<String> {
    // An `Unsandboxed` rule allows the command itself, too; other questions remain.
    let rest = asked.iter().filter(|part| !is_about(part) && !part.is_command());
    if rest.count() > 0 {
        return Vec::new();
    }
    let rules: Option<Vec<String>> =
        asked.iter().filter(|part| is_about(part)).map(|part| part.suggestion.clone()).collect();
    rules.unwrap_or_default()
}

fn offer(id: &str, label: &str, grant: CallGrant, rules: Vec<String>) -> ApprovalOffer {
    ApprovalOffer { id: id.to_owned(), label: label.to_owned(), grant, rules }
}
