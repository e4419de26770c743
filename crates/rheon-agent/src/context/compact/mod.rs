//! Compaction: the window becomes shorter, the conversation stays whole. Pure, but for the summary that a model writes.

mod strategy;
mod tiers;

pub use strategy::{CompactionStrategy, Summariser, WindowView};
pub use tiers::Tiers;
