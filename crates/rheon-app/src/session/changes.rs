//! What of an open session can become something else, as the gate and the agent understand it.

use rheon_policy::{PolicyError, PolicyGate, RuleChange, RuleKind};
use rheon_types::ThinkingLevel;
use rheon_types::event::{RuleAction, RuleList, RulesChange};

/// The thinking level closest to a number of tokens: programs count tokens, services have levels.
pub fn thinking_level(tokens: u64) -> ThinkingLevel {
    match tokens {
        0 => ThinkingLevel::Off,
        1..=2_048 => ThinkingLevel::Low,
        2_049..=8_192 => ThinkingLevel::Medium,
        8_193..=24_576 => ThinkingLevel::High,
        24_577.. => ThinkingLevel::Max,
    }
}

/// Changes the rules of a session. Returns what the user should know.
pub(super) fn apply_rules(gate: &PolicyGate, change: &RulesChange) -> Result<Vec<String>, PolicyError> {
    let list = match change.list {
        RuleList::Allow => RuleKind::Allow,
        RuleList::Ask => RuleKind::Ask,
        RuleList::Deny => RuleKind::Deny,
    };
    let action = match change.action {
        RuleAction::Add => RuleChange::Add,
        RuleAction::Replace => RuleChange::Replace,
        RuleAction::Remove => RuleChange::Remove,
    };
    gate.change_rules(action, list, &change.rules, change.scope)
}
