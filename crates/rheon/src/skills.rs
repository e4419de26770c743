//! `WithSkills`: a builder tells the model of the skills there are.

use rheon_agent::AgentBuilder;
use rheon_tools::skills::SkillSet;

/// Tells an agent of skills.
pub trait WithSkills {
    /// Adds the list of `skills` to the system prompt; nothing if the model may call none of them.
    ///
    /// The text of a skill is read when it is needed: by the tool `skill`, which a [`Toolkit`](rheon_tools::Toolkit) with these
    /// skills has ([`SkillTool`](rheon_tools::builtin::SkillTool) alone does it too), or by any tool that reads files.
    fn with_skills(self, skills: &SkillSet) -> Self;
}

impl WithSkills for AgentBuilder {
    fn with_skills(self, skills: &SkillSet) -> Self {
        let list = skills.format_for_prompt();
        if list.is_empty() { self } else { self.system_section(list) }
    }
}
