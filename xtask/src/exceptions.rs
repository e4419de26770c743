//! The exceptions from the rules: each with its reason, each needed.

use crate::violation::Violation;

/// A violation, and the name of the rule it breaks.
pub type Finding = (&'static str, Violation);

/// A place that may break a rule.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    /// The name of the rule, as in [`crate::rules::RULES`].
    pub rule: &'static str,
    /// The file, from the root of the repository.
    pub path: &'static str,
    /// The one item of the file that is excepted; none for the whole file.
    pub item: Option<&'static str>,
    /// Why the rule does not fit here.
    pub reason: &'static str,
    /// Where this row stands, for the message that it is not needed any more.
    pub line: u32,
}

/// The file of this table.
pub const PATH: &str = "xtask/src/exceptions.rs";

/// Every exception.
pub const EXCEPTIONS: &[Exception] = &[
    Exception {
        rule: "system access",
        path: "crates/rheon-agent/src/system.rs",
        item: None,
        reason: "the default clock and randomness of an agent built without them; the loop only sees the seams",
        line: line!(),
    },
    Exception {
        rule: "system access",
        path: "crates/rheon/src/environment.rs",
        item: None,
        reason: "an agent of the SDK takes its keys from the environment of the process, as a session does",
        line: line!(),
    },
    Exception {
        rule: "sizes",
        path: "crates/rheon-store/src/tree/loop_record.rs",
        item: Some("LoopRecord"),
        reason: "a stored record: its fields are the keys of a file whose flat shape others read",
        line: line!(),
    },
    Exception {
        rule: "small files",
        path: "crates/rheon-app/src/session/slash/mcp.rs",
        item: None,
        reason: "every slash command that does more than show a report has a file of its own",
        line: line!(),
    },
    Exception {
        rule: "small files",
        path: "crates/rheon-testkit/src/mcp_server.rs",
        item: None,
        reason: "most of it is the script beside it; the tests of three crates run it",
        line: line!(),
    },
    Exception {
        rule: "small files",
        path: "crates/rheon-types/src/compiled_once.rs",
        item: None,
        reason: "called by none: it makes the compiler export the JSON code of the large types",
        line: line!(),
    },
    Exception {
        rule: "it files",
        path: "crates/rheon-providers/tests/cost.rs",
        item: None,
        reason: "its allocator counts for the whole process, so it has one thread and no other test",
        line: line!(),
    },
    Exception {
        rule: "unique types",
        path: "crates/rheon/src/engine/agent.rs",
        item: Some("Agent"),
        reason: "the SDK's agent wraps the engine's, and both are the agent to their users",
        line: line!(),
    },
    Exception {
        rule: "unique types",
        path: "crates/rheon/src/engine/builder.rs",
        item: Some("AgentBuilder"),
        reason: "as for Agent",
        line: line!(),
    },
    Exception {
        rule: "unique types",
        path: "crates/rheon/src/session/handle.rs",
        item: Some("Session"),
        reason: "the SDK's session; the other is the record that document 002 names so",
        line: line!(),
    },
    Exception {
        rule: "words",
        path: "crates/rheon-providers/src/wire/openai_fixtures.rs",
        item: None,
        reason: "test data: a tool name whose rewritten form is expected",
        line: line!(),
    },
    Exception {
        rule: "words",
        path: "crates/rheon-tools/src/builtin/ask_user.rs",
        item: None,
        reason: "a name in stored results",
        line: line!(),
    },
    Exception {
        rule: "words",
        path: "crates/rheon-tools/src/builtin/plan.rs",
        item: None,
        reason: "a name in stored results",
        line: line!(),
    },
    Exception {
        rule: "words",
        path: "crates/rheon-types/src/event/approval.rs",
        item: None,
        reason: "a name in stored events",
        line: line!(),
    },
];

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
    Some(Violation::new(PATH, exception.line as usize, what))
}

impl Exception {
    fn covers(&self, (rule, violation): &Finding) -> bool {
        self.rule == *rule
            && self.path == violation.path
            && self.item.is_none_or(|item| violation.item.as_deref() == Some(item))
    }
}
