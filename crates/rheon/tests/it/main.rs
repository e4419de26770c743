//! Tests of the crate as its users meet it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod connect;
mod derive_tool;
mod errors;
mod escapes;
mod examples;
mod hooks;
mod output;
mod pipeline;
mod replay;
mod rewind;
mod root;
mod session;
mod skills;
mod stage;
mod talking_tools;
mod toolkit;

use rheon::AgentBuilder;

/// A change to a builder of this crate, for a scripted run, which has one of the engine.
fn sdk(
    change: impl FnOnce(AgentBuilder) -> AgentBuilder,
) -> impl FnOnce(rheon_agent::AgentBuilder) -> rheon_agent::AgentBuilder {
    |builder| change(builder.into()).into_engine().unwrap()
}
