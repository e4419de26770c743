//! What the model is told besides the conversation: files, facts and memory are loaded here, put together, and wired into an agent.

mod assemble;
mod code_map;
mod extensions;
mod facts;
mod inputs;
mod lessons;
mod load;
mod rules;
mod sources;
mod start;
mod warning;

pub use assemble::{Assembled, PromptParts, assemble};
pub use code_map::{
    CODE_MAP_TOKENS_MAX, CODE_MAP_WAIT_MAX, CodeMap, CodeMapOptions, CodeMapSource, CodeMapText, LeftOutRule,
};
pub use extensions::{ExpandError, Expanded, ExtensionPlaces, Extensions, ProjectTrust};
pub use facts::Facts;
pub use inputs::{ContextInputs, Machine, MadeElsewhere};
pub use lessons::Lessons;
pub use load::{Loaded, SessionMemory};
pub use rheon_fleet::git::{GIT_TIME_MAX, GitChanges, GitQuestion, GitState};
pub use rules::{RULE_BYTES_MAX, RulePlaces, RuleProblem, RuleWarning, Rules, project_root};
pub use sources::{ContextSources, Reminders, Source};
pub use start::SessionStart;
pub use warning::ContextWarning;
