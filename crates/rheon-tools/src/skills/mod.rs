//! Skills: directories with a `SKILL.md` that tells the model how to do something, as specified by agentskills.io.
//!
//! Reading is lenient: a bad skill never stops the others, and every problem becomes a [`SkillWarning`].

mod frontmatter;
mod skill;
mod skill_set;
mod warning;

pub use crate::markdown::{FileOrigin, FileProblem};
pub use skill::{Invocation, SKILL_BYTES_MAX, SKILLS_MAX, Skill, SkillDir};
pub use skill_set::SkillSet;
pub use warning::{SkillError, SkillOutcome, SkillProblem, SkillWarning};

#[cfg(test)]
mod frontmatter_tests;
#[cfg(test)]
mod skill_set_tests;
