//! The system prompt: named sections in three bands become the sections that services are sent, and a report of their size.

mod build;
#[cfg(test)]
mod build_tests;
mod report;
#[cfg(test)]
mod report_tests;
mod section;

pub use build::{PromptBuilder, base_prompt};
pub use report::{ContextReport, SectionUse};
pub(crate) use section::cut;
pub use section::{Band, Section};
