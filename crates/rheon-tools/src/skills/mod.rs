//! Skills: folders with a `SKILL.md` that tells the model how to do something, as agentskills.io describes them.
//!
//! Reading is lenient: one bad skill never stops the others, and whatever was odd is a [`SkillWarning`].

mod discover;
mod frontmatter;
mod limits;
mod read;
mod skill;
mod warning;

pub use discover::Skills;
pub use limits::{SKILL_BYTES_MAX, SKILLS_MAX};
pub use skill::{Invocation, Origin, Skill, SkillFolder};
pub use warning::{Outcome, SkillError, SkillProblem, SkillWarning};

#[cfg(test)]
mod discover_tests;
#[cfg(test)]
mod frontmatter_tests;
