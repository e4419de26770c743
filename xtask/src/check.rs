//! All rules over one repository, less the exceptions.

use crate::exceptions::{self, EXCEPTIONS, Exception};
use crate::repository::Repository;
use crate::rules::RULES;
use crate::violation::Violation;

/// A violation, and the name of the rule it breaks.
pub type Finding = (&'static str, Violation);

/// What breaks the rules in `repository` and is no exception; also exceptions that nothing needs.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let findings: Vec<Finding> = RULES
        .iter()
        .flat_map(|rule| (rule.check)(repository).into_iter().map(|violation| (rule.name, violation)))
        .collect();
    except(findings, EXCEPTIONS)
}

/// The findings without those that an exception covers, and a violation for each exception at fault.
pub fn except(findings: Vec<Finding>, exceptions: &[Exception]) -> Vec<Violation> {
    let faults = exceptions.iter().filter_map(|exception| fault(exception, &findings)).collect::<Vec<_>>();
    let kept = findings.into_iter().filter(|finding| !exceptions.iter().any(|row| row.covers(finding)));
    let mut violations: Vec<_> = kept.map(|(_, violation)| violation).chain(faults).collect();
    violations.sort();
    violations
}

fn fault(exception: &Exception, findings: &[Finding]) -> Option<Violation> {
    let item = exception.item.map(|item| format!(", {item}")).unwrap_or_default();
    let place = format!("\"{}\" for {}{item}", exception.rule, exception.path);
    let what = if exception.reason.trim().is_empty() {
        format!("the exception from {place} gives no reason; write one")
    } else if !findings.iter().any(|finding| exception.covers(finding)) {
        format!("nothing needs the exception from {place}; remove it")
    } else {
        return None;
    };
    Some(Violation::new(exceptions::PATH, exception.line as usize, what))
}

impl Exception {
    fn covers(&self, (rule, violation): &Finding) -> bool {
        self.rule == *rule
            && self.path == violation.path
            && self.item.is_none_or(|item| violation.item.as_deref() == Some(item))
    }
}
