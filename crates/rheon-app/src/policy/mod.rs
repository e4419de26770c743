//! What rules decide, for people who want to know before anything runs.

mod call;
mod rules;

pub use call::{CallError, explain, typed_call};
pub use rheon_policy::{
    Decision, DecisionReason, Explanation, ExplanationPart, RuleKind, RuleSource, mode_name,
};
pub use rules::{CheckedRule, check_rules};
