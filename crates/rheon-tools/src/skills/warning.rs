//! `SkillWarning`: problems with skill files.

use std::fmt;
use std::path::PathBuf;

use rheon_policy::DisplayPath;

use crate::markdown::{FileProblem, NAME_CHARACTERS_MAX};
use crate::skills::skill::{DESCRIPTION_CHARACTERS_MAX, SKILLS_MAX};

/// A problem with a skill or a directory of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillWarning {
    pub path: PathBuf,
    pub problem: SkillProblem,
}

/// Whether a skill is loaded despite a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillOutcome {
    Loaded,
    Skipped,
}

/// What is wrong with a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillProblem {
    #[error("its name {name:?} differs from its directory name {dir:?}")]
    NameDiffers { name: String, dir: String },
    #[error("missing or invalid `name`; using its directory name {dir:?}")]
    NameMissing { dir: String },
    #[error("its name {name:?} should be lower-case words joined by hyphens")]
    NameNotKebabCase { name: String },
    #[error("invalid `name` and directory name: use 1 to {NAME_CHARACTERS_MAX} visible characters")]
    InvalidName,
    #[error("missing `description`, so the model cannot know when to use it")]
    MissingDescription,
    #[error("its description was truncated to {DESCRIPTION_CHARACTERS_MAX} characters")]
    DescriptionTooLong,
    #[error("`disable-model-invocation` is neither true nor false; using true")]
    InvalidInvocation,
    #[error("invalid frontmatter, read with its values in quotes: {0}")]
    UnquotedYaml(String),
    #[error("missing frontmatter between two `---` lines")]
    MissingFrontmatter,
    #[error("invalid frontmatter: {0}")]
    InvalidYaml(String),
    #[error(transparent)]
    File(#[from] FileProblem),
    #[error("overridden by another skill named {name:?}: {}", DisplayPath(.by.as_os_str()))]
    Overridden { name: String, by: PathBuf },
    #[error("it changed since the session started; ask the user to review it and start a new session")]
    Changed,
    #[error("more than {SKILLS_MAX} skills; the rest are ignored")]
    TooMany,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use skill {name:?}: {problem}")]
pub struct SkillError {
    pub name: String,
    pub problem: SkillProblem,
}

impl SkillProblem {
    /// Whether the skill can be used all the same.
    pub fn outcome(&self) -> SkillOutcome {
        match self {
            Self::NameDiffers { .. }
            | Self::NameMissing { .. }
            | Self::NameNotKebabCase { .. }
            | Self::DescriptionTooLong
            | Self::InvalidInvocation
            | Self::UnquotedYaml(_) => SkillOutcome::Loaded,
            Self::InvalidName
            | Self::MissingDescription
            | Self::MissingFrontmatter
            | Self::InvalidYaml(_)
            | Self::File(_)
            | Self::Overridden { .. }
            | Self::Changed
            | Self::TooMany => SkillOutcome::Skipped,
        }
    }
}

impl fmt::Display for SkillWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.problem.outcome() {
            SkillOutcome::Loaded => "loaded with a warning",
            SkillOutcome::Skipped => "skipped",
        };
        write!(f, "skill {} is {outcome}: {}", DisplayPath(self.path.as_os_str()), self.problem)
    }
}
