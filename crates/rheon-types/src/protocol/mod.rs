//! The session protocol between a user interface, a host and a session.
//!
//! An interface holds an `Arc<dyn Host>` and an `Arc<dyn Client>` and nothing else. Everything here is plain data with one
//! JSON form, so the same interface works on a session in this process, over a pipe or over HTTP.

mod command;
mod host;
mod query;
mod subscription;

pub use command::{
    Ack, ClientCallOutcome, CloseReason, Command, RewindMode, RewindResult, RewindScope, Thinking,
};
pub use host::{
    ConfigInfo, HookRegistration, HostCommand, HostQuery, HostReply, MCP_FUNCTION, ModelSummary, OpenRequest,
    ResumePoint, SearchHit, SessionChoice, SessionOrigin, SessionScope, SessionSummary,
};
pub use query::{
    ActiveRun, Checkpoint, ContextReport, ContextSection, CostReport, McpServerSummary, Query, Reply,
    RuleSummary, SessionInfo, SessionModel, SlashCommand, Snapshot,
};
pub use subscription::{Cursor, Delivery, StartAt, Subscription};

#[cfg(test)]
mod document_events_tests;
#[cfg(test)]
mod document_tests;
