//! The session protocol: what a user interface sends to a host and to a session, and what comes back.
//!
//! An interface holds an `Arc<dyn Host>` and an `Arc<dyn Client>` and nothing else. Everything here is plain data with one
//! JSON form, so the same interface works on a session in this process, over a pipe or over HTTP.

mod command;
mod host;
mod query;
mod subscription;

pub use command::{Ack, ClientCallOutcome, CloseReason, Command, RewindMode, RewindWhat, Rewound, Thinking};
pub use host::{
    ConfigFacts, HookRegistration, HostCommand, HostQuery, HostReply, ModelLine, OpenRequest, SearchHit,
    SessionChoice, SessionLine, SessionMaker, SessionScope,
};
pub use query::{
    Checkpoint, ContextReport, ContextSection, CostReport, ModelFacts, Query, Reply, RuleLine, RunInProgress,
    SessionFacts, SlashCommand, Snapshot,
};
pub use subscription::{After, Cursor, Delivery, Subscription};

#[cfg(test)]
mod document_events_tests;
#[cfg(test)]
mod document_tests;
