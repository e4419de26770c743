//! `Explanation`: the decision about a call and its reasons, as data and as text.

use std::fmt;
use std::path::PathBuf;

use rheon_text::visible;
use rheon_types::CallGrant;
use rheon_types::event::{Danger, PermissionMode};

use crate::policy::policy_set::RuleSource;
use crate::policy::rule::RuleKind;

/// Reasons in one message.
pub(crate) const REASONS_MAX: usize = 10;

/// The decision about a call or a part of it, from least to most strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    Allow,
    /// Wait in the plan.
    Queue,
    Ask,
    Deny,
}

/// The decision about a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub decision: Decision,
    /// What rules and defaults decide before the mode applies.
    pub by_rules: Decision,
    pub mode: PermissionMode,
    /// One entry per action of the call.
    pub parts: Vec<ExplanationPart>,
    /// The files that a file tool is called for, with every symlink resolved, as they were judged.
    pub files: Vec<PathBuf>,
}

/// One action of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplanationPart {
    /// A short description. Hidden characters are escaped, and a cut is marked.
    pub action: String,
    pub decision: Decision,
    pub reason: DecisionReason,
    pub danger: Danger,
    /// The rules to offer for it, one per line, if any.
    pub suggestion: Option<String>,
    /// A rule for calls like it, if any.
    pub wider: Option<String>,
    /// What it needs beyond the sandbox, if it runs.
    pub grant: CallGrant,
}

/// Why an action was decided this way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionReason {
    Rule {
        rule: String,
        list: RuleKind,
        source: RuleSource,
    },
    /// A rule matches, but does not cover something this dangerous.
    NotCovered {
        rule: String,
        source: RuleSource,
        why: String,
    },
    /// No rule matches.
    Default(String),
}

impl Explanation {
    /// The first of the parts with the strictest decision.
    pub fn deciding(&self) -> Option<&ExplanationPart> {
        self.parts.iter().find(|part| part.decision == self.by_rules)
    }

    /// The reasons of the strictest parts, as one message.
    pub fn reason(&self) -> String {
        let mut reasons: Vec<String> = Vec::new();
        let mut left_out = 0;
        for part in self.parts.iter().filter(|part| part.decision == self.by_rules) {
            let reason = format!("{}: {}", part.action, part.reason);
            if reasons.len() == REASONS_MAX {
                left_out += 1;
            } else if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if left_out > 0 {
            reasons.push(format!("and {left_out} more"));
        }
        reasons.join("; ")
    }

    /// The highest danger of any part that is decided like the whole call.
    pub fn danger(&self) -> Danger {
        let deciding = self.parts.iter().filter(|part| part.decision == self.by_rules);
        deciding.map(|part| part.danger).max().unwrap_or(Danger::Dangerous)
    }

    /// What the parts with this decision need beyond the sandbox.
    pub fn grant(&self, decision: Decision) -> CallGrant {
        let parts = self.parts.iter().filter(|part| part.decision == decision);
        parts.fold(CallGrant::default(), |grant, part| grant.joined(&part.grant))
    }
}

impl ExplanationPart {
    /// Whether it is about a command rather than a path or a host.
    pub(crate) fn is_command(&self) -> bool {
        self.action.starts_with("run `")
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.decision)?;
        if self.decision != self.by_rules {
            write!(f, " (mode {}; otherwise {})", mode_name(self.mode), self.by_rules)?;
        }
        for part in &self.parts {
            write!(f, "\n  {} {}: {}", part.decision, part.action, part.reason)?;
        }
        Ok(())
    }
}

impl fmt::Display for DecisionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { rule, list, source } => {
                write!(f, "{list} rule {} from {source}", visible(rule))
            }
            Self::NotCovered { rule, source, why } => {
                write!(f, "allow rule {} from {source} does not cover it: {why}", visible(rule))
            }
            Self::Default(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Queue => "queue",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// The name of a mode in settings.
pub fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits",
        PermissionMode::Auto => "auto",
        PermissionMode::Plan => "plan",
        PermissionMode::DontAsk => "dontAsk",
        PermissionMode::BypassPermissions => "bypassPermissions",
    }
}
