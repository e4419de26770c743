//! What the model is told besides the conversation: files, facts and memory are loaded here, put together, and wired into an agent.

mod assemble;
mod facts;
mod git;
mod lessons;
mod load;
mod rules;
mod sources;
mod warning;

pub use assemble::{Assembled, PromptParts, assemble};
pub use facts::Facts;
pub use git::{GIT_TIME_MAX, GitChanges, GitQuestion, GitState};
pub use lessons::{LearningStore, Lessons};
pub use load::{ContextInputs, Loaded, Machine, MadeElsewhere, ProjectTrust};
pub use rules::{RULE_BYTES_MAX, RulePlaces, RuleProblem, RuleWarning, Rules};
pub use sources::{ContextSources, Reminders, Source};
pub use warning::ContextWarning;
