//! Policy: which calls may run, as data.
//!
//! [`Rule`] is one line in Claude Code's syntax, [`Document`] a file of them, [`Policy`] all files of a session in their
//! order. [`PolicyGate`] takes a call apart into what it would do, judges every part and lets the strictest verdict win;
//! [`PolicyGate::explain`] is that judgement as data, and the gate itself answers with nothing else.

mod call;
mod condition;
mod document;
mod excerpt;
mod explanation;
mod gate;
mod judge;
pub(crate) mod names;
mod paths;
mod plan;
mod policy_set;
mod rule;
mod shell_analyzer;
mod subject;
mod suggestion;
mod user_rules;
mod wildcard;

pub use condition::Condition;
pub use document::{Document, DocumentError, RuleEntry};
pub use excerpt::excerpt;
pub use explanation::{Decision, DecisionReason, Explanation, ExplanationPart, mode_name};
pub use gate::{ActiveRule, PolicyGate, ReadOnlyGate, RuleChange, RuleSink};
pub use judge::SandboxedCommands;
pub use names::{KnownTool, ToolKind, known_tool, tool_name};
pub use paths::PatternRoots;
pub use policy_set::{Policy, PolicyError, PolicySource, PolicyTrust, RuleSource};
pub use rule::{Rule, RuleError, RuleKind};
pub use shell_analyzer::{ShellAnalyzer, ShellDirectory, ShellFacts};
pub use user_rules::UserRules;

/// The gate that follows rules.
pub type Rules = PolicyGate;

#[cfg(test)]
mod attack_tests;
#[cfg(test)]
mod document_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod policy_set_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod wildcard_tests;
