//! Sessions as trees of runs, one JSON file per session.
//!
//! A [`SessionRecorder`] builds [`Session`]s of [`LoopRecord`]s from events; a [`SessionStore`] stores them. All of
//! it can be rebuilt from a journal. A *loop* here is one run (`loop_id`).

mod deep;
mod file;
mod forest;
mod loop_event;
mod loop_record;
mod memory_store;
mod open_loop;
mod recorder;
mod recorder_config;
mod session;
mod store;

pub use file::{
    FileSessionStore, SESSION_FILE_BYTES_MAX, SESSION_FILE_VERSION, delete_session, list_session_ids,
    load_session, load_sessions_for_agent, save_session,
};
pub use loop_event::{LoopEvent, LoopFact};
pub use loop_record::{ChildLoopRef, LoopConfigSnapshot, LoopRecord, LoopStatus, ParallelGroupRecord};
pub use memory_store::MemorySessionStore;
pub use recorder::SessionRecorder;
pub use recorder_config::{DroppedCounts, SessionFormationPolicy, SessionRecorderConfig};
pub use session::{Session, SessionFormation, SpawnRef};
pub use store::{AgentSessions, BrokenSession, SessionStore, SessionStoreError};

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod runs_tests;
