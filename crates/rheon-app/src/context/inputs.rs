//! `ContextInputs`: what there is to load from.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{Effort, TokenCounter};
use rheon_tools::notes::NoteDir;
use rheon_tools::skills::SkillDir;
use rheon_types::Clock;

use super::code_map::CodeMapSource;
use super::extensions::ProjectTrust;
use super::rules::RulePaths;
use super::sources::ContextSources;
use crate::memory::MemoryStore;
use crate::sessions::EnvVars;

/// What there is to load from. Nothing is looked for elsewhere.
#[derive(Clone)]
pub struct ContextInputs {
    /// What the user wants, by which notes and learnings are chosen.
    pub task: String,
    /// Replaces the base prompt, if set.
    pub base: Option<String>,
    /// Where rules are, and the working directory.
    pub places: RulePaths,
    /// Whether the user trusts the project.
    pub trust: ProjectTrust,
    /// Directories of skills; those of the project count only if it is trusted.
    pub skills: Vec<SkillDir>,
    /// Directories of notes. What a project's directory says goes to the model, so give one only if the user alone can write there or
    /// trusts it.
    pub notes: Vec<NoteDir>,
    /// Where learnings and episodes are; nothing is learnt or remembered without it, and the model has no tool for notes.
    pub memory: Option<MemoryStore>,
    /// What others made: notes on tools, the map of the repository, the watch of the tools. None of it need be there.
    pub made: ProvidedContext,
    /// The requested effort; medium if absent.
    pub effort: Option<Effort>,
    pub sources: ContextSources,
    pub counter: TokenCounter,
    pub machine: Machine,
}

/// Context that the caller provides.
#[derive(Clone, Default)]
pub struct ProvidedContext {
    /// Notes on tools besides their descriptions.
    pub tool_notes: String,
    pub code_map: CodeMapSource,
}

/// Facts about the machine.
#[derive(Clone)]
pub struct Machine {
    pub environment: EnvVars,
    pub clock: Arc<dyn Clock>,
    pub git_time_max: Duration,
}
