//! Policy: which calls may run, as data.
//!
//! [`Rule`] is one line in Claude Code's syntax, [`Document`] a file of them, [`Policy`] all files of a session in their
//! order. [`PolicyGate`] takes a call apart into what it would do, judges every part and lets the strictest verdict win;
//! [`PolicyGate::explain`] is that judgement as data, and the gate itself answers with nothing else.

mod call;
mod condition;
mod document;
mod explanation;
mod gate;
mod judge;
pub(crate) mod names;
mod paths;
mod plan;
mod policy_set;
mod rule;
mod shell_seam;
mod subject;
mod suggestion;
mod user_rules;
mod visible;
mod wildcard;

pub use condition::Condition;
pub use document::{Document, DocumentError, RuleEntry};
pub use explanation::{Because, Decision, Explanation, Part, mode_name};
pub use gate::{ListedRule, PolicyGate, ReadOnly, RuleChange, RuleSink};
pub use judge::HeldCommands;
pub use names::{Kind, KnownTool, known, tool_name};
pub use paths::Places;
pub use policy_set::{Policy, PolicyError, PolicySource, Source, Trust};
pub use rule::{List, Rule, RuleError};
pub use shell_seam::{Shell, ShellFacts, ShellFolder};
pub use user_rules::UserRules;
pub use visible::brief;

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
