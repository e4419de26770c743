//! `ContextWarning`: what was odd about what the model is told. The run goes on.

use std::path::PathBuf;

use rheon_tools::commands::CommandWarning;
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
    /// About slash commands.
    #[error("{0}")]
    Command(CommandWarning),
    /// Something of a project that is not trusted.
    #[error("{} is not used, because you do not trust this project yet", .0.display())]
    Untrusted(PathBuf),
    /// About notes.
    #[error("{0}")]
    Note(NoteWarning),
    /// What was learnt cannot be read or kept.
    #[error("learnings are not used or kept: {0}")]
    Learnings(String),
    /// Notes cannot be searched, or what happened is not remembered.
    #[error("the memory is not used or kept: {0}")]
    Memory(String),
    /// About the map of the repository.
    #[error("the code map is not as it should be: {0}")]
    CodeMap(String),
    /// Loading broke off.
    #[error("the context is incomplete: {0}")]
    Incomplete(String),
}
