//! The system prompt: named sections in three bands, and a report of their size.

mod build;
#[cfg(test)]
mod build_tests;
mod section;
mod usage;
#[cfg(test)]
mod usage_tests;

pub use build::{PromptBuilder, base_prompt};
pub(crate) use section::cut;
pub use section::{Band, PromptSection};
pub use usage::{ContextUsage, SectionUsage};
