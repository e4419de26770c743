//! What the model sees: pure functions, messages in, messages and figures out.

mod compact;
mod complete;
mod complexity;
mod effort;
mod pairing;
mod prompt;
mod recite;
mod settings;
mod structured;
mod tokens;
mod told;

pub(crate) use compact::transcript;
pub use compact::{CompactionStrategy, Summariser, SummaryBy, Tiers, WindowView, summary_prompt};
pub(crate) use complete::{Shortfall, shortfall};
pub use complexity::{Complexity, ComplexityScore, Reason, score_complexity};
pub use effort::{Effort, EffortPlan, plan_effort};
pub(crate) use pairing::mend_calls;
pub(crate) use prompt::cut;
pub use prompt::{Band, ContextReport, PromptBuilder, Section, SectionUse, base_prompt};
pub use recite::Recitation;
pub use settings::{CheckSettings, Compaction, WindowSettings};
pub use structured::schema_problem;
pub(crate) use structured::structured;
pub use tokens::{ContextTracker, Counting, MessageCounts, Overflow, TokenCounter, flat_tokens};
pub(crate) use told::{Told, go_back};

#[cfg(test)]
mod complexity_tests;
#[cfg(test)]
mod effort_tests;
