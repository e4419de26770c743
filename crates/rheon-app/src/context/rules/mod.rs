//! Rules: the instructions of the user and of the project, `AGENTS.md` and its kin, as one text.
//!
//! Reading is lenient: what cannot be read is a [`RuleWarning`], and the rest counts.

mod find;
mod imports;
mod load;
mod warning;

pub use find::{RulePaths, project_root};
pub use load::{RULE_BYTES_MAX, RuleFiles};
pub use warning::{RuleProblem, RuleWarning};

#[cfg(test)]
mod imports_tests;
#[cfg(test)]
mod rules_tests;
