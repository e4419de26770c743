//! Estimates the tokens of a prompt from the structure of its text and corrects them by what services report.

mod counter;
mod family;
mod scan;
mod tracker;

pub use counter::{MessageCounts, TokenCounter, flat_tokens};
pub use tracker::{ContextTracker, CountMode, Overflow};

#[cfg(test)]
mod counter_tests;
#[cfg(test)]
mod running_tests;
#[cfg(test)]
mod scan_tests;
#[cfg(test)]
mod tracker_tests;
