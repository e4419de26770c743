//! Compaction: shortens the context window while the conversation stays complete. Pure, except for summaries by a
//! model.

mod digest;
mod strategy;
mod stretch;
mod tiered;
mod transcript;

pub use strategy::{CompactionStrategy, Summarizer, WindowView, summary_prompt};
pub(crate) use stretch::sound_cuts;
pub use tiered::{SummarySource, TieredCompaction};
pub(crate) use transcript::transcript;
