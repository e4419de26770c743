//! What rules decide, for people who want to know before anything runs.

mod call;
mod explain;
mod rules;

pub use call::{CallError, typed_call};
pub use explain::explain;
pub use rheon_policy::{
    Decision, DecisionReason, Explanation, ExplanationPart, RuleKind, RuleSource, mode_name,
};
pub use rules::{CheckedRule, check_rules};
