//! `Explanation`: what was decided about a call, part by part, and why. As data, and as text for people.

use std::fmt;

use rheon_text::visible;
use rheon_types::event::{Danger, PermissionMode};

use crate::policy::policy_set::RuleSource;
use crate::policy::rule::RuleKind;

/// The most reasons in one sentence.
pub(crate) const REASONS_MAX: usize = 10;

/// What is to happen with a call or a part of it; the later ones are stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It may run.
    Allow,
    /// It waits in the plan.
    Queue,
    /// Somebody has to decide.
    Ask,
    /// It may not run.
    Deny,
}

/// What was decided about a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What happens.
    pub decision: Decision,
    /// What rules and defaults alone would decide, before the mode has its say.
    pub by_rules: Decision,
    /// The mode.
    pub mode: PermissionMode,
    /// What the call would do, judged one by one.
    pub parts: Vec<ExplanationPart>,
}

/// One thing that a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplanationPart {
    /// What, in a few words; nothing in it is hidden, and what is too long says so.
    pub action: String,
    /// What rules and defaults decide about it.
    pub decision: Decision,
    /// Why.
    pub reason: DecisionReason,
    /// How much harm it could do.
    pub danger: Danger,
    /// The rule that would allow it, where one may be offered.
    pub suggestion: Option<String>,
}

/// Why a part is decided as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionReason {
    /// A rule says so.
    Rule {
        /// The rule.
        rule: String,
        /// Its list.
        list: RuleKind,
        /// Its source.
        source: RuleSource,
    },
    /// A rule would allow it, but not something as dangerous as this.
    NotCovered {
        /// The rule.
        rule: String,
        /// Its source.
        source: RuleSource,
        /// What it does not cover.
        why: String,
    },
    /// No rule says anything.
    Default(String),
}

impl Explanation {
    /// The first of the parts that are decided most strictly.
    pub fn deciding(&self) -> Option<&ExplanationPart> {
        self.parts.iter().find(|part| part.decision == self.by_rules)
    }

    /// Why the call is decided as it is, in a sentence: the first reasons of the strictest parts.
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

    /// The most harm that a part could do.
    pub fn danger(&self) -> Danger {
        self.parts.iter().map(|part| part.danger).max().unwrap_or(Danger::Dangerous)
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
                write!(f, "rule {} in {list} of {source}", visible(rule))
            }
            Self::NotCovered { rule, source, why } => {
                write!(f, "rule {} in allow of {source} does not reach so far: {why}", visible(rule))
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

/// The name of a mode as settings write it.
pub fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits",
        PermissionMode::Plan => "plan",
        PermissionMode::DontAsk => "dontAsk",
        PermissionMode::BypassPermissions => "bypassPermissions",
    }
}
