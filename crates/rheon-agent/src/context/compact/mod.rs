//! Compaction: the window becomes shorter, the conversation stays whole. Pure, but for the summary that a model writes.

mod digest;
mod strategy;
mod stretch;
mod tiers;
mod transcript;

pub use strategy::{CompactionStrategy, Summariser, WindowView, summary_prompt};
pub use tiers::{SummaryBy, Tiers};
pub(crate) use transcript::transcript;
