//! The rules of all sources, each tried on its own examples.

use rheon_policy::{
    Document, PatternRoots, Policy, PolicySource, PolicyTrust, RuleEntry, RuleKind, RuleSource, ShellAnalyzer,
};

use crate::config::Config;
use crate::session::SystemContext;

/// A rule, tried on its examples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRule {
    /// Where it comes from.
    pub source: RuleSource,
    /// Its list.
    pub list: RuleKind,
    /// As it is written.
    pub rule: String,
    pub examples: usize,
    pub warning: Option<String>,
    pub problem: Option<String>,
}

/// The rules of all sources in order of evaluation, each tested with its examples.
pub fn check_rules(system: &SystemContext, config: &Config) -> Vec<CheckedRule> {
    let places = PatternRoots { working_dir: system.working_dir.clone(), home: system.home() };
    let mut checked = Vec::new();
    for source in &config.settings.permissions.sources {
        let Document { deny, ask, allow, .. } = &source.document;
        for entry in deny.iter().chain(ask).chain(allow) {
            checked.push(check(source, entry, &places));
        }
    }
    checked.sort_by_key(|rule| (rule.list, rule.source));
    checked
}

fn check(source: &PolicySource, entry: &RuleEntry, places: &PatternRoots) -> CheckedRule {
    let mut alone = Document::default();
    let list = match entry.rule.list() {
        RuleKind::Deny => &mut alone.deny,
        RuleKind::Ask => &mut alone.ask,
        RuleKind::Allow => &mut alone.allow,
    };
    list.push(entry.clone());
    let alone = PolicySource { document: alone, ..source.clone() };
    // Whether the project is trusted decides if its rules count, not if they are right.
    let made = Policy::new(vec![alone], places.clone(), PolicyTrust::Trusted, ShellAnalyzer::default());
    CheckedRule {
        source: source.source,
        list: entry.rule.list(),
        rule: entry.rule.text().to_owned(),
        examples: entry.matching.len() + entry.not_matching.len(),
        warning: entry.rule.warning().map(str::to_owned),
        problem: match made {
            Ok(policy) => policy.dead_rules().first().map(|why| format!("{}: {why}", source.source)),
            Err(error) => Some(error.to_string()),
        },
    }
}
