//! Compaction: the window becomes shorter, the conversation stays whole. Pure, but for the summary that a model writes.

mod digest;
mod strategy;
mod stretch;
mod tiered;
mod transcript;

pub use strategy::{CompactionStrategy, Summarizer, WindowView, summary_prompt};
pub use tiered::{SummarySource, TieredCompaction};
pub(crate) use transcript::transcript;
