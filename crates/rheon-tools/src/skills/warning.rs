//! What was odd about a skill.

use std::fmt;
use std::path::PathBuf;

use rheon_policy::DisplayPath;

use crate::markdown::{FileProblem, NAME_CHARACTERS_MAX};
use crate::skills::skill::{DESCRIPTION_CHARACTERS_MAX, SKILLS_MAX};

/// Something odd about one skill, or about a folder of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillWarning {
    /// The file or folder.
    pub path: PathBuf,
    /// What is odd.
    pub problem: SkillProblem,
}

/// Whether a skill can be used all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It can.
    Loaded,
    /// It is left out.
    Skipped,
}

/// What can be odd.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillProblem {
    /// The name is not that of the folder.
    #[error("its name is {name:?}, but its folder is called {folder:?}")]
    NameDiffers {
        /// The name.
        name: String,
        /// The name of the folder.
        folder: String,
    },
    /// The name is missing or unusable, so that of the folder is used.
    #[error("it has no usable `name`, so it is called {folder:?} like its folder")]
    NameMissing {
        /// The name of the folder.
        folder: String,
    },
    /// The name is not as the specification wants it.
    #[error("its name {name:?} should be lower-case words with hyphens between them")]
    NameOdd {
        /// The name.
        name: String,
    },
    /// Neither its name nor that of its folder can be used.
    #[error(
        "neither its `name` nor the name of its folder can be used: 1 to {NAME_CHARACTERS_MAX} visible characters are needed"
    )]
    NameUnusable,
    /// There is no description.
    #[error("it has no `description`, so the model could not know when to use it")]
    NoDescription,
    /// The description is too long.
    #[error("its description was cut after {DESCRIPTION_CHARACTERS_MAX} characters")]
    DescriptionCut,
    /// `disable-model-invocation` is neither true nor false.
    #[error("`disable-model-invocation` is neither true nor false; it is taken for true")]
    InvocationOdd,
    /// The YAML could be read only with its values in quotes.
    #[error("its frontmatter could be read only with its values in quotes: {0}")]
    Mended(String),
    /// There is no frontmatter.
    #[error("it does not begin with frontmatter between two lines `---`")]
    NoFrontmatter,
    /// The frontmatter cannot be read.
    #[error("its frontmatter cannot be read: {0}")]
    Unreadable(String),
    /// The file or the folder cannot be read.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// Another skill of the same name overrides it.
    #[error("another skill is called {name:?} too, and overrides it: {}", DisplayPath(.by.as_os_str()))]
    Overridden {
        /// The name.
        name: String,
        /// The skill that is used.
        by: PathBuf,
    },
    /// The file is not what it was when it was found.
    #[error("it changed since the session began; ask the user to look at it and to begin a new session")]
    Changed,
    /// There are too many skills.
    #[error("there are more than {SKILLS_MAX} skills; the rest is left out")]
    TooMany,
}

/// Why a skill cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the skill {name:?} cannot be used: {problem}")]
pub struct SkillError {
    /// The skill.
    pub name: String,
    /// What is wrong with it.
    pub problem: SkillProblem,
}

impl SkillProblem {
    /// Whether the skill can be used all the same.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::NameDiffers { .. }
            | Self::NameMissing { .. }
            | Self::NameOdd { .. }
            | Self::DescriptionCut
            | Self::InvocationOdd
            | Self::Mended(_) => Outcome::Loaded,
            Self::NameUnusable
            | Self::NoDescription
            | Self::NoFrontmatter
            | Self::Unreadable(_)
            | Self::File(_)
            | Self::Overridden { .. }
            | Self::Changed
            | Self::TooMany => Outcome::Skipped,
        }
    }
}

impl fmt::Display for SkillWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.problem.outcome() {
            Outcome::Loaded => "used all the same",
            Outcome::Skipped => "left out",
        };
        write!(f, "skill {} is {outcome}: {}", DisplayPath(self.path.as_os_str()), self.problem)
    }
}
