//! What the model sees: pure functions, messages in, messages and figures out.

mod complexity;
mod effort;
mod estimate;
mod pairing;
mod prompt;
mod summary;
mod tokens;

pub use complexity::{Complexity, ComplexityScore, Reason, score};
pub use effort::{Effort, EffortPlan, plan};
pub(crate) use estimate::{estimate_block, estimate_tokens};
pub(crate) use pairing::mend_calls;
pub use prompt::{Band, ContextReport, PromptBuilder, Section, SectionUse, base_prompt};
pub use summary::summary_prompt;
pub use tokens::{ContextTracker, Counting, MessageCounts, Overflow, TokenCounter, flat_tokens};

#[cfg(test)]
mod complexity_tests;
#[cfg(test)]
mod effort_tests;
