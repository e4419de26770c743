//! Permission rules as data, and the gate that enforces them.
//!
//! A [`Rule`] is one line in Claude Code's syntax, a [`Document`] is a file of rules, and a [`Policy`] is all files of
//! a session in order of precedence. [`PolicyGate`] splits a call into its actions, decides each one, and lets the
//! strictest decision win. [`PolicyGate::explain`] returns that decision as data, and the gate uses nothing else.

mod call;
mod condition;
mod denied_paths;
mod destinations;
mod document;
mod explanation;
mod gate;
mod git_settings;
mod glob;
mod judge;
mod listed;
pub(crate) mod names;
mod never_matches;
mod offers;
mod paths;
mod plan;
mod policy_set;
mod reach;
mod refusals;
mod rule;
mod rule_kind;
mod shell_analyzer;
mod subject;
mod suggestion;
mod truncation;
mod unknown;
mod user_rules;
mod wildcard;
mod words;
mod wrappers;

pub use condition::Condition;
pub use denied_paths::DeniedPathsError;
pub use document::{Document, DocumentError, RuleEntry};
pub use explanation::{Decision, DecisionReason, Explanation, ExplanationPart, mode_name};
pub use gate::{ActiveRule, CommandSandbox, PolicyGate, ReadOnlyGate, RuleChange, RulePlace, RuleSink};
pub use judge::SandboxedCommands;
pub use names::{KnownTool, ToolKind, known_tool, tool_name};
pub use paths::PatternRoots;
pub use policy_set::{Policy, PolicyError, PolicySource, PolicyTrust, RuleSource};
pub use refusals::SandboxRefusals;
pub use rule::{Rule, RuleError, RuleKind};
pub use shell_analyzer::{FileFacts, ShellAnalyzer, ShellDirectory, ShellFacts};
pub use truncation::excerpt;
pub use user_rules::UserRules;
pub(crate) use user_rules::with_rules;

pub type Rules = PolicyGate;

#[cfg(test)]
mod attack_tests;
#[cfg(test)]
mod deny_tests;
#[cfg(test)]
mod document_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod fuzz_tests;
#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod grant_tests;
#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod policy_set_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod wildcard_tests;
