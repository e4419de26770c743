//! The context besides the conversation: loads files, facts and memory, assembles the prompt and wires it into an agent.

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

pub use assemble::{AssembledPrompt, PromptParts, assemble};
pub use code_map::{
    CODE_MAP_TOKENS_MAX, CODE_MAP_WAIT_MAX, CodeMap, CodeMapFilter, CodeMapOptions, CodeMapSource,
    CodeMapText,
};
pub use extensions::{CommandExpandError, ExpandedCommand, ExtensionPaths, Extensions, ProjectTrust};
pub use facts::EnvironmentFacts;
pub use inputs::{ContextInputs, Machine, ProvidedContext};
pub use lessons::Lessons;
pub use load::{LoadedContext, SessionMemory};
pub use rheon_fleet::git::{GIT_TIME_MAX, GitChanges, GitQuestion, GitState};
pub use rules::{RULE_BYTES_MAX, RuleFiles, RulePaths, RuleProblem, RuleWarning, project_root};
pub use sources::{ContextSource, ContextSources, Reminders};
pub use start::SessionStart;
pub use warning::ContextWarning;
