//! `ContextWarning`: a problem with a part of the context. The run continues.

use std::path::PathBuf;

use rheon_tools::commands::CommandWarning;
use rheon_tools::notes::NoteWarning;
use rheon_tools::skills::SkillWarning;

use super::rules::RuleWarning;

/// A problem with a part of the context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextWarning {
    #[error("{0}")]
    Rules(RuleWarning),
    #[error("{0}")]
    Skill(SkillWarning),
    #[error("{0}")]
    Command(CommandWarning),
    /// Something of a project that is not trusted.
    #[error("{} is ignored: this project is not trusted yet", .0.display())]
    Untrusted(PathBuf),
    #[error("{0}")]
    Note(NoteWarning),
    /// Learnings cannot be read or saved.
    #[error("learnings are neither used nor saved: {0}")]
    Learnings(String),
    /// Notes cannot be searched, or what happened is not remembered.
    #[error("memory is neither used nor saved: {0}")]
    Memory(String),
    #[error("the code map is incomplete: {0}")]
    CodeMap(String),
    #[error("the context is incomplete: {0}")]
    Incomplete(String),
}
