//! `ContextWarning`: what was odd about what the model is told. The run goes on.

use rheon_tools::notes::NoteWarning;
use rheon_tools::skills::SkillWarning;

use super::rules::RuleWarning;

/// What was odd about what the model is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextWarning {
    /// About rules.
    #[error("{0}")]
    Rules(RuleWarning),
    /// About skills.
    #[error("{0}")]
    Skill(SkillWarning),
    /// About notes.
    #[error("{0}")]
    Note(NoteWarning),
    /// What was learnt cannot be read or kept.
    #[error("learnings are not used or kept: {0}")]
    Learnings(String),
    /// Loading broke off.
    #[error("the context is incomplete: {0}")]
    Incomplete(String),
}
