//! Tests of the crate as its users meet it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod derive_tool;
mod escapes;
mod examples;
mod output;
mod pipeline;
mod replay;
mod rewind;
mod skills;
mod talking_tools;
mod toolkit;
