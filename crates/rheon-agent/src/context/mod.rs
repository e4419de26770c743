//! What the model sees: pure functions over messages.

mod compact;
mod complete;
mod effort;
mod goal_reminder;
mod logged;
mod pairing;
mod prompt;
mod settings;
mod structured;
mod tokens;

pub use compact::{
    CompactionStrategy, Summarizer, SummarySource, TieredCompaction, WindowView, summary_prompt,
};
pub(crate) use compact::{sound_cuts, transcript};
pub(crate) use complete::{Shortfall, shortfall};
pub use effort::Effort;
pub use goal_reminder::GoalReminder;
pub(crate) use logged::{LoggedConversation, rewind_to_prompt};
pub(crate) use pairing::repair_calls;
pub(crate) use prompt::cut;
pub use prompt::{Band, ContextUsage, PromptBuilder, PromptSection, SectionUsage, base_prompt};
pub use settings::{CheckSettings, Compaction, WindowSettings};
pub use structured::schema_problem;
pub(crate) use structured::structured;
pub use tokens::{ContextTracker, CountMode, MessageCounts, Overflow, TokenCounter, flat_tokens};

#[cfg(test)]
mod effort_tests;
